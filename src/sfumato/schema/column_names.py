"""What the name of a column says: whose id it is, or that it names people. One list, for drafts and for `classify`."""

import re
import unicodedata
from collections.abc import Sequence
from enum import IntEnum


class IdOf(IntEnum):
    """What an id is of, the likeliest to say whose a row is first."""

    person = 0
    document = 1  # a passport, a number of a tax payer: a person's, where there is no id
    bare = 2  # a column that is called "customer", and nothing more
    plain = 3  # a column that is called "id"
    other = 4  # an event, a shop


def _folded(text: str) -> str:
    """Small letters without marks: "Mã số" and "ma so" are one spelling."""
    apart = unicodedata.normalize("NFD", text.casefold().replace("đ", "d"))
    return "".join(sign for sign in apart if unicodedata.category(sign) != "Mn")


def _listed(text: str) -> tuple[str, ...]:
    return tuple(_folded(text).split())


# In the order in which they are preferred.
PERSONS = _listed(
    "user person patient customer client subject participant member employee student respondent pupil worker passenger "
    "citizen resident visitor subscriber guest donor beneficiary borrower owner individual people cust pat subj emp "
    "usr paciente cliente usuario persona kunde kunden patienten benutzer mitarbeiter player matrikel المريض مريض "
    "المستخدم مستخدم العميل عميل الطالب طالب الموظف موظف account household family"
)
# How such words begin where they have endings.
STEMS = _listed(
    "пациент клиент пользовател сотрудник студент учащ учени покупател участник абонент жител граждан работник "
    "респондент посетител больно"
)
PHRASES = tuple(
    map(
        _folded,
        ("bệnh nhân", "khách hàng", "sinh viên", "học sinh", "nhân viên", "người dùng", "hội viên", "công dân"),
    )
)
SIGNS = _listed("患者 病人 客户 用户 会员 学生 员工 顾客 居民 人员 受试者 被试 参与者 个人")
EVENTS = _listed(
    "transaction order visit event record row invoice purchase session claim payment booking flight trip ride "
    "encounter admission stay case sample specimen observation message ticket receipt shipment заказ заказа операции "
    "транзакции визита"
)
EVENT_PHRASES = tuple(map(_folded, ("giao dịch", "đơn hàng", "hóa đơn")))
EVENT_SIGNS = _listed("订单 交易 流水 记录 发票")
IDS = _listed("id ids uuid guid identifier ид идентификатор معرف")
NUMBERS = (*IDS, *_listed("key no nr num number code ref nummer numero код номер mã رقم"))
SIGNS_OF_NUMBERS = ("编号", "号码", "号", "代码", "编码", "标识", "id")
# Short forms, and words that are an id by themselves.
PERSON_IDS = (
    *_listed(
        "mrn pid uid hhid subjid usubjid ptid patid custid custno empid empno mssv masv mabn makh 学号 工号 病历号 "
        "住院号 门诊号 학번 사번"
    ),
    # The number follows at once: 顧客電話番号 is a telephone's.
    *(
        person + number
        for person in _listed("ユーザー 利用者 顧客 会員 社員 学籍 患者 被験者 参加者 사용자 회원 고객 환자 직원 학생")
        for number in _listed("id 番号 번호 아이디")
    ),
)
DOCUMENTS = _listed("ssn snils passport nino cpf dni nif curp cccd cmnd инн снилс паспорт паспорта")
SIGNS_OF_DOCUMENTS = ("身份证", "护照", "社保号", "证件号")
DOCUMENT_PHRASES = (
    *(" social security ", " national id ", " tax id "),
    *(" nhs number ", " nhs no ", " medicare number ", " medicare id ", " health card "),
)
PLAIN_IDS = (*IDS, *_listed("编号 rowid"), _folded("mã số"))
BARE = _listed("user patient customer participant respondent person client student employee player")
# Between a person and the id: "user_account_id", "patient study id".
FILLERS = _listed("unique study hash hashed anon pseudo random account external internal source original")
NAMING = _listed(
    "name surname firstname lastname fullname email mail phone telephone mobile fax address iban imei username login "
    "taxid фио имя фамилия отчество телефон телефона адрес почта 姓名 电话 手机号 手机 地址 邮箱"
)
NAMING_PHRASES = tuple(map(_folded, ("họ tên", "họ và tên", "số điện thoại", "địa chỉ")))
# These name a person as the last word, or before a number: "account_number", but not "account_balance".
NAMING_LAST = _listed("street account card license licence plate ip mac url insurance")


def words_of(name: str) -> list[str]:
    """The words of a column's name, however they are put together: PatientId, "Patient ID" and patient_id are alike."""
    composed = unicodedata.normalize("NFKC", name)
    unmarked = "".join(sign for sign in composed if unicodedata.category(sign) != "Mn")  # a mark would part a word
    parts = re.split(r"[\W_]+", _parted(unmarked))
    bare = (_folded(part).strip("0123456789") for part in parts)
    return [word for word in bare if word]


def _parted(name: str) -> str:
    """With a blank before each capital that begins a word."""
    letters = []
    for place, sign in enumerate(name):
        before, after = name[place - 1 : place], name[place + 1 : place + 2]
        begins = before.islower() or (before.isupper() and after.islower() and name[place + 1 :] != "s")
        letters.append(f" {sign}" if sign.isupper() and begins else sign)
    return "".join(letters)


def id_of(name: str) -> IdOf | None:
    """Whose id a column is by its name, if it is one."""
    words = words_of(name)
    joined, phrase = "".join(words), f" {' '.join(words)} "
    if joined in PERSON_IDS or _numbers(words, PERSONS, PHRASES, SIGNS):
        return IdOf.person
    if any(word in DOCUMENTS for word in words) or any(sign in joined for sign in SIGNS_OF_DOCUMENTS):
        return IdOf.document
    if any(said in phrase for said in DOCUMENT_PHRASES):
        return IdOf.document
    if joined in BARE and not any(sign.isdigit() for sign in name):  # player1 and player2 are two in a row
        return IdOf.bare
    if joined in PLAIN_IDS or phrase.strip() in PLAIN_IDS:
        return IdOf.plain
    is_id = any(word in IDS for word in (*words[:1], *words[-1:]))
    return IdOf.other if is_id or _numbers(words, EVENTS, EVENT_PHRASES, EVENT_SIGNS) else None


def _numbers(words: Sequence[str], kinds: Sequence[str], phrases: Sequence[str], signs: Sequence[str]) -> bool:
    """Whether the words are a number of one of these, and of nothing else: not "patient zip code"."""
    others = [word for word in words if word not in FILLERS]
    kept = others if len(others) > 1 else words  # an "account id" is one
    joined = "".join(kept)
    if any(joined == kind + number for kind in kinds for number in NUMBERS if joined.isascii()):
        return True
    if joined.endswith(SIGNS_OF_NUMBERS) and any(joined.startswith(sign) for sign in signs):
        return True
    if kept[:1] == ["ma"] and " ".join(kept[1:]).startswith(tuple(phrases)):
        return True
    if kept[-1:] == ["id"] and " ".join(kept[:-1]) in phrases:
        return True
    return len(kept) > 1 and (_is(kept[-2:], kinds) or _is([kept[1], kept[0]], kinds))


def _is(pair: Sequence[str], kinds: Sequence[str]) -> bool:
    """Whether the first is one of these kinds, and the second a number."""
    named = pair[0] in kinds or (kinds is PERSONS and pair[0].startswith(STEMS))
    return named and pair[1] in NUMBERS


def preference(name: str) -> int:
    """Which of several ids of persons is likelier to be the one of the table; less is more."""
    joined = "".join(words_of(name))
    return next((place for place, person in enumerate(PERSONS) if person in joined), len(PERSONS))


def naming(name: str) -> str | None:
    """The words by which a column seems to name people, or None."""
    words = words_of(name)
    if id_of(name) is not None:
        return " ".join(words)
    for word in words:
        if word in NAMING:
            return word
    said = f" {' '.join(words)} "
    rest = words[:-1] if words[-1:] and words[-1] in NUMBERS else words
    last = rest[-1:]
    return next((phrase for phrase in NAMING_PHRASES if f" {phrase} " in said), None) or (
        last[0] if last and last[0] in NAMING_LAST else None
    )
