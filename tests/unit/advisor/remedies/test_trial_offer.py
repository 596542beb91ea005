"""The trial that a finding offers, as a line for a shell."""

from myisam_advisor.remedies.trial_offer import trial_line


def test_the_table_is_the_object_else_the_busiest_else_left_to_the_reader() -> None:
    about = {"schema_name": "shop", "table_name": "items"}
    busiest = {"busiest_schema": "log", "busiest_table": "hits"}
    assert trial_line("pack-keys", {**about, **busiest}) == "myisam-advisor trial pack-keys --table shop.items"
    assert trial_line("mmap", busiest) == "myisam-advisor trial mmap --table log.hits"
    assert trial_line("mmap", {"busiest_schema": None, "busiest_table": None}) == "myisam-advisor trial mmap --table DB.TABLE"


def test_a_name_that_no_shell_can_be_given_is_left_to_the_reader() -> None:
    assert trial_line("pack-keys", {"schema_name": "shop", "table_name": "a\nb"}) == "myisam-advisor trial pack-keys --table DB.TABLE"
    assert trial_line("pack-keys", {"schema_name": "shop", "table_name": "a b"}) == "myisam-advisor trial pack-keys --table 'shop.`a b`'"
