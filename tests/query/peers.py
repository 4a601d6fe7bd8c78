"""The tables that questions of other tools were written for; the questions stand in peers.toml."""

import sfumato as sf
from sfumato.schema.table import Schema

TABLES = {
    "week_data": Schema(
        "week_data",
        sf.Person("VisitorId", 7, 3),
        {
            "Time entered": sf.Text(),
            "Time spent (minutes)": sf.Int(0, 120),
            "Money spent (euros)": sf.Int(0, 50),
            "Day": sf.Int(1, 7),
        },
    ),
    "professors": Schema(
        "professors",
        sf.Person("id", 10, 3),
        {"item": sf.Category(["pencil", "pen", "scissors"]), "quantity": sf.Int(0, 100)},
    ),
    "PUMS": Schema(
        "PUMS",
        sf.Person("pid", 1),
        {
            "age": sf.Int(0, 100),
            "sex": sf.Category([0, 1]),
            "educ": sf.Int(1, 16),
            "race": sf.Int(1, 6),
            "income": sf.Int(0, 500_000),
            "married": sf.Category([True, False]),
        },
    ),
    "members": Schema(
        "members",
        sf.Person("id", 1),
        {
            "age": sf.Int(0, 120),
            "education_level": sf.Category(["up-to-high-school", "bachelors", "masters", "doctorate"]),
            "gender": sf.Category(["female", "male", "nonbinary"]),
            "date_joined": sf.Date("2000-01-01", "2022-12-31"),
            "zip_code": sf.Text(),
            "books_borrowed": sf.Int(0, 500),
            "favorite_genres": sf.Text(),
        },
        {"zips": sf.Lookup("zips.csv", "zip_code", {"City": sf.Category(["Durham", "Raleigh"])})},
    ),
    "checkouts": Schema(
        "checkouts",
        sf.Person("member_id", 20, 20),
        {
            "title": sf.Text(),
            "author": sf.Text(),
            "isbn": sf.Text(),
            "genres": sf.Category(["SciFi", "Romance"]),
            "checkout_date": sf.Date("2022-01-01", "2022-12-31"),
        },
    ),
}
