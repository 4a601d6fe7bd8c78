"""Words of health in the names of columns: what such a column says is nobody else's business."""

from sfumato.schema.column_names import words_of


def _listed(*lines: str) -> tuple[str, ...]:
    return tuple(" ".join(lines).split())


WORDS = frozenset(
    _listed(
        "diagnosis diagnoses diagnosed disease illness condition comorbidity symptom treatment therapy medication",
        "medicine drug prescription dose dosage vaccine vaccination vaccinated allergy surgery operation procedure",
        "biopsy pathology prognosis relapse remission",
        "icd snomed loinc health healthcare medical clinical hospitalised hospitalized icu",
        "hiv aids hepatitis covid infection infected virus tuberculosis malaria sepsis",
        "cancer tumor tumour malignancy metastasis leukemia leukaemia lymphoma melanoma chemo chemotherapy",
        "diabetes diabetic hypertension stroke cardiac heart asthma copd epilepsy dementia alzheimer parkinson",
        "cirrhosis fibrosis nafld arthritis anemia anaemia obesity obese transplant dialysis",
        "depression anxiety mental psychiatric psychological suicide schizophrenia bipolar autism adhd addiction",
        "disability disabled smoker smoking smokes smoke alcohol drinker",
        "blood bp sbp dbp systolic diastolic pulse bmi cholesterol chol ldl hdl triglycerides glucose hba1c hb a1c",
        "insulin creatinine albumin bilirubin platelet hemoglobin haemoglobin hematocrit wbc rbc ecg ekg mri lab",
        "laboratory pregnant pregnancy abortion contraception fertility gravida miscarriage menopause",
        "gene genetic genome genotype dna brca mutation death died deceased mortality survival",
        "диагноз диагнозы болезнь заболевание симптом лечение лекарство препарат доза давление холестерин глюкоза",
        "диабет инсульт инфаркт рак опухоль вич беременность инвалидность прививка аллергия анализ пульс курение",
        "diagnostico enfermedad tratamiento embarazo diagnose krankheit behandlung schwangerschaft blutdruck maladie",
    )
)
# Of several words, without marks, as `words_of` gives them.
PHRASES = (
    *("chan doan", "ten benh", "loai benh", "benh ly", "benh an", "trieu chung", "dieu tri", "ten thuoc", "don thuoc"),
    *("huyet ap", "duong huyet", "tieu duong", "xet nghiem", "mang thai", "tiem chung"),
)
SIGNS = _listed(
    "诊断 疾病 病史 症状 治疗 用药 药物 剂量 手术 过敏 血压 血糖 血脂 胆固醇 糖尿病 高血压",
    "癌 肿瘤 感染 怀孕 吸烟 疫苗 化验",
)


def health_word(name: str) -> str | None:
    """The word by which a column seems to tell of somebody's health, or None."""
    words = words_of(name)
    for word in words:
        if word in WORDS or word.removesuffix("s") in WORDS:
            return word
    said = f" {' '.join(words)} "
    return next((phrase for phrase in PHRASES if f" {phrase} " in said), None) or next(
        (sign for sign in SIGNS if sign in said), None
    )
