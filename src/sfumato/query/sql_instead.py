"""What people write and is refused: the reason, and the nearest thing that works. The reference shows these tables."""

from dataclasses import dataclass

from sqlglot import exp

from sfumato.errors import Refused
from sfumato.query.wordings import refused_because


@dataclass(frozen=True, slots=True)
class Instead:
    """What is refused in plain words, why, the nearest thing that works, and how people write it."""

    what: str
    reason: str
    nearest: str
    written: tuple[str, ...]

    def refusal(self, name: str = "") -> Refused:
        return refused_because(f"{self.what} ({name})" if name else self.what, self.reason, self.nearest)


FAILS = "it can fail or be slow on a single row"
SINGLE_ROWS = "it would show values of single rows"
TODAY = "the same question must mean the same tomorrow"

# Functions, by every name the parser or the analyst has for them.
FUNCTIONS_INSTEAD = (
    Instead(
        "several quantiles at once",
        "each has a column of its own; those of one column are found together and cost little more than one",
        "Write QUANTILE(x, 0.25), QUANTILE(x, 0.5), QUANTILE(x, 0.75).",
        ("APPROX_QUANTILES", "PERCENTILES"),
    ),
    Instead(
        "an aggregate of another tool",
        "every answer is differentially private here",
        "Write COUNT(*), COUNT(x), SUM(x), AVG(x) or QUANTILE(x, 0.9).",
        ("ANON_COUNT", "ANON_SUM", "ANON_AVG", "ANON_QUANTILES", "DP_COUNT", "DP_SUM", "DP_AVG"),
    ),
    Instead(
        "a date written as a text",
        "texts made of dates have no public list of values",
        "YEAR(d), MONTH(d), EXTRACT(DOW FROM d) and DATE_TRUNC('month', d) are parts of a date.",
        ("STRFTIME", "TO_CHAR", "DATE_FORMAT", "FORMAT_DATE", "TIME_TO_STR", "DAYNAME", "MONTHNAME"),
    ),
    Instead(
        "a part of a date written like this",
        "each part has a function of its own",
        "Write YEAR(d), QUARTER(d), MONTH(d), WEEK(d), DAY(d), DAYOFWEEK(d), or EXTRACT(YEAR FROM d).",
        ("DATE_PART", "DATEPART", "WEEKDAY", "WEEKOFYEAR", "WEEK_OF_YEAR"),
    ),
    Instead(
        "a time of the day",
        "of a time only the day counts",
        "YEAR(d), MONTH(d), DAYOFWEEK(d) and DATE_TRUNC('week', d) are parts of a date; an hour can be a column.",
        (
            *("HOUR", "MINUTE", "SECOND", "EPOCH", "TIMESTAMP_TRUNC", "TIME_TRUNC", "PARSE_TIME", "TO_TIMESTAMP"),
            *("FROM_UNIXTIME", "UNIX_TO_TIME"),
        ),
    ),
    Instead(
        "moving a date",
        "dates are compared and counted, not moved",
        "Write the day itself, DATE '2024-01-31', or count days: DATE_DIFF('day', d, DATE '2024-01-31') <= 30.",
        ("DATE_ADD", "DATE_SUB", "DATEADD", "ADD_MONTHS", "TS_OR_DS_ADD", "TIMESTAMP_ADD", "LAST_DAY", "AGE"),
    ),
    Instead(
        "the day of today",
        TODAY,
        "Write the day: DATE '2024-01-31'.",
        ("NOW", "TODAY", "GETDATE", "SYSDATE", "CURRENT_DATE", "CURRENT_TIMESTAMP", "CURRENT_TIME", "CURRENT_DATETIME"),
    ),
    Instead(
        "reading a text as a date or a number",
        FAILS,
        "The owner can declare the column as a date or a number; DATE '2024-01-31' is a date.",
        ("TO_DATE", "DATE", "STR_TO_DATE", "STRPTIME", "TO_NUMBER", "STR_TO_TIME", "TRY_STRPTIME"),
    ),
    Instead(
        "a random number",
        "noise is Sfumato's own, and the same question must give the same answer",
        "Leave it out.",
        ("RAND", "RANDOM", "RANDN", "UUID", "GEN_RANDOM_UUID"),
    ),
    Instead(
        "a regular expression",
        "it can be slow on a single row",
        "Write x LIKE 'A%', STARTS_WITH(x, 'A'), ENDS_WITH(x, 'a') or CONTAINS(x, 'a').",
        ("REGEXP_LIKE", "REGEXP_MATCHES", "REGEXP_FULL_MATCH", "REGEXP_EXTRACT", "REGEXP_REPLACE", "RLIKE", "GLOB"),
    ),
    Instead(
        "a text searched for a place",
        "there is no such function",
        "Write CONTAINS(x, 'a'), x LIKE '%a%', LEFT(x, 2) or SUBSTRING(x, 1, 3).",
        ("STR_POSITION", "STRPOS", "INSTR", "POSITION", "CHARINDEX", "LOCATE", "SPLIT_PART", "SPLIT"),
    ),
    Instead(
        "cutting off digits",
        "there is no such function",
        "Write FLOOR(x), ROUND(x, digits) or BIN(x, width).",
        ("TRUNC", "TRUNCATE"),
    ),
    Instead(
        "a numbered bin",
        "bins are called by where they begin",
        "GROUP BY BIN(x, width), or ask for HISTOGRAM(x, bins).",
        ("WIDTH_BUCKET", "NTILE", "CUT", "DATE_BIN", "TIME_BUCKET"),
    ),
    Instead(
        "a division by what may be 0",
        "every division here has no value where it divides by 0",
        "Write x / NULLIF(y, 0), or x / y, which is the same; COALESCE(x / y, 0) is 0 there.",
        ("SAFE_DIVIDE", "DIV0", "DIV0NULL", "TRY_DIVIDE"),
    ),
    Instead(
        "another value for NULL written like this",
        "COALESCE says the same",
        "Write COALESCE(x, 0); x IS NULL tests for it.",
        ("ISNULL", "ZEROIFNULL", "NVL2"),
    ),
    Instead(
        "a list of values",
        SINGLE_ROWS,
        "SELECT x, COUNT(*) … GROUP BY x shows values with their numbers; MODE(x) is the most frequent one.",
        ("STRING_AGG", "GROUP_CONCAT", "LISTAGG", "LIST", "ARRAY_AGG", "COLLECT_LIST", "ARRAY_UNIQUE_AGG", "JSON_AGG"),
    ),
    Instead(
        "one of the values",
        SINGLE_ROWS,
        "MODE(x) is the most frequent value, MEDIAN(x) the middle one, MIN(x) and MAX(x) lie near the ends.",
        ("FIRST", "LAST", "ANY_VALUE", "ARG_MAX", "ARG_MIN", "MAX_BY", "MIN_BY", "FIRST_VALUE", "LAST_VALUE"),
    ),
    Instead(
        "whether any row or every row meets a condition",
        "one row would decide it",
        "Count them: COUNT(CASE WHEN x = true THEN 1 END).",
        ("LOGICAL_OR", "LOGICAL_AND", "BOOL_OR", "BOOL_AND", "EVERY"),
    ),
    Instead(
        "an aggregate of two columns",
        "aggregates are of one expression",
        "It follows from AVG(x * y), AVG(x), AVG(y) and AVG(x * x): select these and work it out from the answer.",
        ("CORR", "COVAR_POP", "COVAR_SAMP", "REGR_SLOPE", "REGR_INTERCEPT", "REGR_R2", "REGR_COUNT"),
    ),
    Instead(
        "this measure of shape",
        "no private estimate of it is built in",
        "VARIANCE(x), STDDEV(x), QUANTILE(x, q) and HISTOGRAM(x, bins) tell of the shape of values.",
        ("KURTOSIS", "SKEWNESS", "ENTROPY", "MAD", "GEOMEAN", "GEOMETRIC_MEAN", "HARMONIC_MEAN", "PRODUCT"),
    ),
    Instead(
        "a list of the most frequent values",
        "it is a question of its own",
        "SELECT x, COUNT(*) AS n … GROUP BY x ORDER BY n DESC LIMIT 3; MODE(x) is the first of them.",
        ("TOP_K", "APPROX_TOP_K", "APPROX_TOP_COUNT"),
    ),
    Instead(
        "an aggregate with a condition",
        "CASE says the same",
        "Write SUM(CASE WHEN condition THEN x ELSE 0 END).",
        ("SUMIF", "SUM_IF", "AVGIF", "AVG_IF"),
    ),
)
BY_NAME = {name: instead for instead in FUNCTIONS_INSTEAD for name in instead.written}

# Clauses and signs, by the node or the part of a node that the parser makes of them.
KINDS: dict[type[exp.Expr], Instead] = {
    exp.Interval: Instead(
        "INTERVAL",
        "dates are compared and counted, not moved",
        "Write the day itself, DATE '2024-01-31', or count days: DATE_DIFF('day', d, DATE '2024-01-31') <= 30.",
        ("INTERVAL 30 DAY",),
    ),
    exp.Tuple: Instead(
        "a row of several values", "values are compared one by one", "Write a = 1 AND b = 2.", ("(a, b) = (1, 2)",)
    ),
    exp.Array: Instead(
        "a square bracket",
        "there are no lists",
        "A name with blanks stands in double quotes; a list after IN in round brackets: IN (1, 2).",
        ("[a]",),
    ),
    exp.Placeholder: Instead(
        "a placeholder",
        "a question has no parameters",
        "Write the value itself: 30, 'text' or DATE '2024-01-31'.",
        ("?", ":x"),
    ),
    exp.Parameter: Instead(
        "a variable",
        "a question has no parameters",
        "Write the value itself: 30, 'text' or DATE '2024-01-31'.",
        ("@x",),
    ),
    exp.SimilarTo: BY_NAME["REGEXP_LIKE"],
    exp.Glob: BY_NAME["REGEXP_LIKE"],
    exp.Escape: Instead(
        "ESCAPE",
        "patterns have none",
        "CONTAINS(x, '%'), STARTS_WITH and ENDS_WITH take every character as it is.",
        ("x LIKE '!%' ESCAPE '!'",),
    ),
    exp.NullSafeEQ: Instead(
        "comparing NULL as a value",
        "a comparison with NULL is never met",
        "Write x = y OR (x IS NULL AND y IS NULL).",
        ("x IS NOT DISTINCT FROM y", "x <=> y"),
    ),
    exp.NullSafeNEQ: Instead(
        "comparing NULL as a value",
        "a comparison with NULL is never met",
        "Write x <> y OR x IS NULL.",
        ("x IS DISTINCT FROM y",),
    ),
    exp.Table: Instead(
        "a file or a function after FROM",
        "only declared tables can be asked",
        "Ask FROM the table's name in the policy.",
        ("FROM read_csv('x.csv')",),
    ),
    **dict.fromkeys(
        (exp.BitwiseAnd, exp.BitwiseOr, exp.BitwiseXor, exp.BitwiseLeftShift, exp.BitwiseRightShift, exp.IntDiv),
        Instead(
            "this operator between numbers",
            "only +, -, *, / and % are known",
            "Powers are POWER(x, 2), rests MOD(x, 7), whole parts FLOOR(x / 7).",
            ("x ^ 2", "x & 1", "x DIV 7"),
        ),
    ),
    exp.WithinGroup: Instead(
        "this WITHIN GROUP",
        "quantiles and modes of one column are ordered",
        "Write QUANTILE(x, 0.9), MEDIAN(x) or MODE(x), or PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY x).",
        ("SUM(x) WITHIN GROUP (ORDER BY y)",),
    ),
}

PARTS: dict[str, Instead] = {
    "distinct": Instead(
        "SELECT DISTINCT",
        "rows never leave",
        "SELECT x, COUNT(*) … GROUP BY x shows values with their numbers; COUNT(DISTINCT x) counts different ones.",
        ("SELECT DISTINCT x",),
    ),
    "totals": Instead("WITH TOTALS", "groups would overlap", "Ask without GROUP BY for the total.", ("WITH TOTALS",)),
    "sample": Instead(
        "a sample",
        "a sample would only add error",
        "Leave it out: all rows count.",
        ("TABLESAMPLE (10 PERCENT)",),
    ),
    "qualify": Instead("QUALIFY", "there are no windows", "HAVING works on the noisy answer.", ("QUALIFY …",)),
    "pivots": Instead("PIVOT", "it is another form of GROUP BY", "GROUP BY x, and turn the answer.", ("PIVOT (…)",)),
    "into": Instead("INTO", "a question writes nothing", "Leave it out, and keep the answer.", ("INTO t",)),
    "locks": Instead("FOR UPDATE", "a question writes nothing", "Leave it out.", ("FOR UPDATE",)),
    "recursive": Instead(
        "WITH RECURSIVE", "it can run without end", "Write WITH x AS (SELECT …) SELECT …", ("WITH RECURSIVE x AS (…)",)
    ),
    "columns": Instead(
        "a list of names after a table's name",
        "columns are named where they are computed",
        "Write x AS (SELECT a AS b …).",
        ("WITH x (b) AS (SELECT a …)",),
    ),
    "all": Instead(
        "GROUP BY ALL in a sub-query",
        "it adds up one person's rows only",
        "Group by the unit id.",
        ("(SELECT … GROUP BY ALL)",),
    ),
    "limit_options": Instead("this LIMIT", "a number of rows is needed", "Write LIMIT 10.", ("LIMIT 10 PERCENT",)),
}
