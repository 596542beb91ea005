"""Why nothing is known of a table, in whole sentences."""

from dataclasses import fields

import pytest

from myisam_advisor.catalogue.site import Site
from myisam_advisor.cli.options import ServerOptions, SourceOptions
from myisam_advisor.cli.table_choice import chosen_table, no_such_table
from myisam_advisor.judging.findings import TABLES, Blind
from myisam_exporter.errors import UserError

KNOWN = [("shop", "orders"), ("shop", "a b"), ("other", "lines")]


def test_a_cause_and_its_remedy_are_sentences_of_their_own() -> None:
    server = ServerOptions(**{field.name: None for field in fields(ServerOptions)})  # type: ignore[arg-type]
    spot = Blind(TABLES, "Tables cannot be seen.", "/data could not be verified as this server's", "sudo")
    told = no_such_table("shop.x", [], SourceOptions(server, "f.yaml"), Site(()), [spot])
    assert str(told) == "shop.x cannot be seen from here. /data could not be verified as this server's. Remedy: sudo."


@pytest.mark.parametrize(("text", "said"), [("shop", "'shop' is a database and names no table: write DATABASE.TABLE. For example shop.`a b`."), ("lines", "'lines' names no database: write DATABASE.TABLE. Did you mean other.lines?")])
def test_half_a_name_is_told_which_half_is_missing(text: str, said: str) -> None:
    with pytest.raises(UserError) as caught:
        chosen_table(text, KNOWN, folds=False)
    assert str(caught.value) == said


def test_capitals_are_small_letters_where_they_are_to_the_server() -> None:
    assert chosen_table("Shop.Orders", KNOWN, folds=False) is None
    assert chosen_table("Shop.Orders", KNOWN, folds=True) == ("shop", "orders")
    assert chosen_table("shop.orders", [("Shop", "Orders")], folds=True) == ("Shop", "Orders"), "as lower_case_table_names=2 keeps them"
