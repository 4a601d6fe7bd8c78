# %% id=setup role=given
import math

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sfumato.labs import lab

check, hint, show = lab(1)
rng = np.random.default_rng({{v.number}})  # {{s.c_rng}}

variant = {{v.number}}
df = pd.read_csv("{{file.main}}")
df_100 = pd.read_csv("{{file.f100}}")  # {{s.c_first}}
df_1000 = pd.read_csv("{{file.f1000}}")
df_10000 = pd.read_csv("{{file.f10000}}")
eps = {{v.eps}}
df.head()

# %% id=fig_coins role=figure theory=true
fig, axis = plt.subplots(figsize=(7.5, 3))
axis.axis("off")
boxes = {"coin 1": (0.08, 0.5), "truth": (0.5, 0.85), "coin 2": (0.5, 0.25), "yes": (0.92, 0.45), "no": (0.92, 0.05)}
for words, (x, y) in boxes.items():
    axis.text(x, y, words, ha="center", va="center", bbox={"boxstyle": "round", "facecolor": "#eef3fb"})
for start, end, words in (
    ("coin 1", "truth", "heads, 1/2"), ("coin 1", "coin 2", "tails, 1/2"),
    ("coin 2", "yes", "heads, 1/2"), ("coin 2", "no", "tails, 1/2"),
):
    (x, y), (u, w) = boxes[start], boxes[end]
    axis.annotate("", (u - 0.08, w), (x + 0.08, y), arrowprops={"arrowstyle": "->"})
    axis.text((x + u) / 2, (y + w) / 2 + 0.06, words, ha="center", fontsize=9)
axis.set(xlim=(0, 1), ylim=(-0.05, 1))
plt.show()

# %% id=t1 role=task points=1 defines=true_bits,true_share needs=
def true_bits(df):
    """{{s.t1_bits_doc}}"""
    ### BEGIN SOLUTION
    yes = {
        1: lambda: df["Target"] == ">50K",
        2: lambda: df["Marital Status"] == "Never-married",
        3: lambda: df["Marital Status"].isin(["Divorced", "Separated"]),
        4: lambda: df["Workclass"].isin(["Federal-gov", "Local-gov", "State-gov"]),
        5: lambda: df["Capital Gain"] > 0,
        6: lambda: df["Hours per week"] > 45,
        7: lambda: df["Country"].notna() & (df["Country"] != "United-States"),
    }[variant]()
    return yes.astype(int).to_numpy()
    ### END SOLUTION


def true_share(df):
    """{{s.t1_share_doc}}"""
    ### BEGIN SOLUTION
    return float(np.mean(true_bits(df)))
    ### END SOLUTION

# %% id=t1_check role=check
check.t1()

# %% id=t2 role=task points=1.5 defines=rr,rr_column needs=
def rr(bit, rng):
    """{{s.t2_one_doc}}"""
    ### BEGIN SOLUTION
    if rng.random() < 0.5:
        return int(bit)
    return int(rng.random() < 0.5)
    ### END SOLUTION


def rr_column(bits, rng):
    """{{s.t2_column_doc}}"""
    ### BEGIN SOLUTION
    bits = np.asarray(bits)
    truthful = rng.random(bits.shape) < 0.5
    return np.where(truthful, bits, rng.random(bits.shape) < 0.5).astype(int)
    ### END SOLUTION

# %% id=t2_check role=check
check.t2()

# %% id=t3 role=task points=1 defines=naive,debias needs=
def naive(answers):
    """{{s.t3_naive_doc}}"""
    ### BEGIN SOLUTION
    return float(np.mean(answers))
    ### END SOLUTION


def debias(answers):
    """{{s.t3_debias_doc}}"""
    ### BEGIN SOLUTION
    return 2 * float(np.mean(answers)) - 0.5
    ### END SOLUTION

# %% id=t3_check role=check
check.t3()

# %% id=t4 role=task points=1 defines=relative_error,file_error needs=t1,t2,t3
def relative_error(true, estimate):
    """{{s.t4_error_doc}}"""
    ### BEGIN SOLUTION
    if true == 0:
        return float("nan")
    return abs(estimate - true) / abs(true)
    ### END SOLUTION


def file_error(df, rng):
    """{{s.t4_file_doc}}"""
    ### BEGIN SOLUTION
    answers = rr_column(true_bits(df), rng)
    return relative_error(true_share(df), debias(answers))
    ### END SOLUTION

# %% id=t4_check role=check
check.t4()

# %% id=files role=given
frames = {100: df_100, 1000: df_1000, 10000: df_10000, len(df): df}
pd.DataFrame(
    [[size, true_share(frame), 100 * file_error(frame, rng)] for size, frame in frames.items()],
    columns=["rows", "true share", "relative error, %"],
).round(3)

# %% id=t5 role=task points=1.5 defines=error_table needs=t2,t3,t4
def error_table(bits, sizes, runs, rng):
    """{{s.t5_doc}}"""
    ### BEGIN SOLUTION
    rows = []
    for size in sizes:
        part = np.asarray(bits)[:size]
        true = part.mean()
        errors = [relative_error(true, debias(rr_column(part, rng))) for _ in range(runs)]
        rows.append([size, float(np.mean(errors)), float(np.quantile(errors, 0.95))])
    return rows
    ### END SOLUTION

# %% id=t5_check role=check
check.t5()

# %% id=fig_error role=figure after=t5
bits = true_bits(df)
sizes = [100, 300, 1000, 3000, 10000, len(df)]
rows = np.array(error_table(bits, sizes, 200, rng))
slope = np.polyfit(np.log(rows[:, 0]), np.log(rows[:, 1]), 1)[0]
fig, axis = plt.subplots(figsize=(6, 3.4))
axis.loglog(rows[:, 0], 100 * rows[:, 1], "o-", label=f"mean, slope {slope:.2f}")
axis.loglog(rows[:, 0], 100 * rows[:, 2], "s--", label="95 % of runs are below")
axis.set(xlabel="rows", ylabel="relative error, %")
axis.legend()
plt.show()

# %% id=t6 role=task points=1.5 defines=rr_eps,debias_eps,eps_two_coins needs=
def rr_eps(bit, eps, rng):
    """{{s.t6_one_doc}}"""
    ### BEGIN SOLUTION
    keep = rng.random() < math.exp(eps) / (1 + math.exp(eps))
    return int(bit) if keep else 1 - int(bit)
    ### END SOLUTION


def debias_eps(answers, eps):
    """{{s.t6_debias_doc}}"""
    ### BEGIN SOLUTION
    p = math.exp(eps) / (1 + math.exp(eps))
    return (float(np.mean(answers)) - (1 - p)) / (2 * p - 1)
    ### END SOLUTION


def eps_two_coins():
    """{{s.t6_coins_doc}}"""
    ### BEGIN SOLUTION
    return math.log(3)
    ### END SOLUTION

# %% id=t6_check role=check
check.t6()

# %% id=fig_eps role=figure after=t6
budgets = np.array([0.1, 0.2, 0.5, 1.0, math.log(3), 2.0, 3.0, 5.0])
keep = np.exp(budgets) / (1 + np.exp(budgets))
fig, axis = plt.subplots(figsize=(6, 3.2))
for people, style in ((1000, "o-"), (32219, "s--")):
    axis.loglog(budgets, np.sqrt(keep * (1 - keep) / people) / (2 * keep - 1), style, label=f"N = {people}")
one = bits[:1000]
measured = [
    np.std([debias_eps([rr_eps(bit, each, rng) for bit in one], each) for _ in range(20)]) for each in budgets[[1, 3, 5]]
]
axis.loglog(budgets[[1, 3, 5]], measured, "k^", label="measured, N = 1000")
axis.axvline(eps_two_coins(), color="grey", linestyle=":")
axis.set(xlabel=r"$\varepsilon$", ylabel="sd of the share")
axis.legend()
plt.show()

# %% id=t7 role=task points=1 defines=posterior,survey_rounds needs=t2
def posterior(prior, yes, no):
    """{{s.t7_posterior_doc}}"""
    ### BEGIN SOLUTION
    return 1 / (1 + (1 - prior) / prior * 3.0 ** (no - yes))
    ### END SOLUTION


def survey_rounds(bits, rounds, rng):
    """{{s.t7_rounds_doc}}"""
    ### BEGIN SOLUTION
    remembered = rr_column(bits, rng)
    return np.array([remembered for _ in range(rounds)])
    ### END SOLUTION

# %% id=t7_check role=check
check.t7()

# %% id=fig_posterior role=figure after=t7
prior, questions = {{v.prior}}, 50
fig, axis = plt.subplots(figsize=(6, 3.2))
for bit, colour in ((1, "C0"), (0, "C1")):
    for person in range(5):
        answers = [rr(bit, rng) for _ in range(questions)]
        believed = [posterior(prior, sum(answers[:k]), k - sum(answers[:k])) for k in range(questions + 1)]
        axis.plot(believed, colour, alpha=0.7, label=f"truth {bit}" if person == 0 else None)
again = survey_rounds([1], questions, rng)[:, 0]
axis.plot([prior] + [posterior(prior, again[0], 1 - again[0])] * questions, "k:", label="remembered answer")
axis.set(xlabel="times asked", ylabel="belief that the truth is yes")
axis.legend()
plt.show()

# %% id=t8 role=task points=1.5 defines=krr,krr_estimate needs=
def krr(value, domain, eps, rng):
    """{{s.t8_one_doc}}"""
    ### BEGIN SOLUTION
    k = len(domain)
    if rng.random() < math.exp(eps) / (math.exp(eps) + k - 1):
        return value
    others = [one for one in domain if one != value]
    return others[int(rng.integers(k - 1))]
    ### END SOLUTION


def krr_estimate(answers, domain, eps):
    """{{s.t8_estimate_doc}}"""
    ### BEGIN SOLUTION
    k = len(domain)
    p = math.exp(eps) / (math.exp(eps) + k - 1)
    q = 1 / (math.exp(eps) + k - 1)
    answers = list(answers)
    return [(answers.count(one) / len(answers) - q) / (p - q) for one in domain]
    ### END SOLUTION

# %% id=t8_check role=check
check.t8()

# %% id=fig_categories role=figure after=t8
domain = {{n.domain}}  # {{s.c_domain}}
column = df["{{v.categories}}"].tolist()
estimates = krr_estimate([krr(value, domain, 2.0, rng) for value in column], domain, 2.0)
fig, axis = plt.subplots(figsize=(7, 3.4))
places = np.arange(len(domain))
axis.bar(places - 0.2, [column.count(one) / len(column) for one in domain], 0.4, label="true")
axis.bar(places + 0.2, estimates, 0.4, label=r"estimated, $\varepsilon$ = 2")
axis.set_xticks(places, domain, rotation=60, ha="right")
axis.set(ylabel="share")
axis.legend()
plt.show()
