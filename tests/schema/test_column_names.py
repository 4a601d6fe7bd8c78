"""Whose id a column is, by its name, in whatever script and spelling; and what names people besides."""

import pytest

from sfumato.schema.column_names import IdOf, id_of, naming, words_of
from sfumato.schema.draft import chosen_unit, draft_policy, worth_a_look


def each(names: str) -> list[str]:
    return names.split("|")


PERSONS = each(
    "PatientId|Patient ID|patient_id|patientid|PATIENT_ID|IDPatient|id_patient|CustomerID|SUBJID|USUBJID|MRN|pid|uid|"
    "user_uuid|userID2|user_account_id|Unique Patient ID|employee_no|account_id|household_id|Kundennummer|"
    "код пациента|КОД_КЛИЕНТА|№ пациента|номер пациента|mã bệnh nhân|Mã khách hàng|ma_sinh_vien|患者编号|学号|员工编号|"
    "用户ID|hhid|HHID|person_id|client_no|studentID|employee nr|playerID|player_id|Matrikelnummer|Matrikel-Nr|"
    "ユーザーID|ユーザー ID|顧客番号|会員ID|学籍番号|사용자ID|사용자 아이디|고객번호|학번|"
    "معرف المريض|معرّف_المستخدم|رقم الطالب"
)
DOCUMENTS = each(
    "ИНН|СНИЛС|паспорт|SSN|passport|national_id|social security number|NHSNumber|nhs_no|"
    "medicare_number|身份证号|护照号|CCCD"
)
OTHERS = each("transaction_id|InvoiceNo|visitId|case_no|CaseId|store_id|номер заказа|mã giao dịch|订单号|orderid")
NONE = each(
    "bid|paid|valid|hybrid|grid|zip_code|postal code|patient_zip_code|patient_age|mã bưu chính|member|country_code|"
    "customer_phone_number|account_balance|индекс|年龄||1|___|key|code|persons|personal|person_count|clientele|"
    "student_age|employee_count|player1|player_2|players|team|顧客電話番号|会員郵便番号|ユーザー名|사용자수|"
    "رقم الهاتف|عمر المريض|matrikel"
)


@pytest.mark.parametrize(
    ("name", "of"),
    [
        *((name, IdOf.person) for name in PERSONS),
        *((name, IdOf.document) for name in DOCUMENTS),
        *((name, IdOf.bare) for name in each("customer|User|person|Client|student|EMPLOYEE|player")),
        *((name, IdOf.plain) for name in ("id", "ID", "uuid", "mã số", "编号", "rowid", "معرف")),
        *((name, IdOf.other) for name in OTHERS),
        *((name, None) for name in NONE),
    ],
)
def test_whose_id_a_column_is(name: str, of: IdOf | None) -> None:
    assert id_of(name) is of


@pytest.mark.parametrize(
    ("columns", "unit"),
    [
        ("transaction_id amount CustomerID", "CustomerID"),
        ("id patient_id", "patient_id"),
        ("account_id employee_id user_id", "user_id"),
        ("order_id id", "id"),
        ("id passport", "passport"),
        ("passport SUBJID", "SUBJID"),
        ("transaction_id customer amount", "customer"),
        ("amount visit_id store_id", "visit_id"),
        ("код_пациента номер_заказа", "код_пациента"),
        ("age paid", None),
        ("game_id player1 player2", "game_id"),
        ("hhid pid age", "hhid"),
        ("pid user_id", "user_id"),
    ],
)
def test_a_persons_id_comes_first(columns: str, unit: str | None) -> None:
    found = chosen_unit(dict.fromkeys(columns.split(), "VARCHAR"))
    assert (found.column if found else None) == unit


def test_a_column_that_says_yes_or_no_is_nobodys_id() -> None:
    columns = {"student": "VARCHAR", "employee": "BOOLEAN", "balance": "DOUBLE"}
    found = chosen_unit(columns)
    assert found is not None, "by its name alone"
    assert found.column == "student"
    assert chosen_unit(columns, {"student": ("No", "Yes")}) is None
    assert worth_a_look(columns) == ["student"]
    drafted = draft_policy("t.csv", "t", columns, looks={"student": ("No", "Yes")})
    assert 'student = { type = "category", values = ["No", "Yes"] }' in drafted
    assert 'employee = { type = "category", values = [true, false] }' in drafted
    assert 'kind = "row"' in drafted


def test_names_are_read_however_they_are_put_together() -> None:
    for name in ("PatientId", "Patient ID", "patient_id", "patient-id", "patientID", "PATIENT.ID", " patient  id "):
        assert words_of(name) == ["patient", "id"]
    assert words_of("HTTPServerIDs") == ["http", "server", "ids"]
    assert words_of("Mã số") == words_of("ma_so") == ["ma", "so"]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("first name", "name"),
        ("Телефон", "телефон"),
        ("ФИО", "фио"),
        ("姓名", "姓名"),
        ("số điện thoại", "so dien thoai"),
        ("account_number", "account number"),
        ("licence no", "licence"),
        ("client_ip", "ip"),
        ("account_balance", None),
        ("patient_age", None),
        ("city", None),
        ("", None),
    ],
)
def test_what_names_people(name: str, said: str | None) -> None:
    assert naming(name) == said
