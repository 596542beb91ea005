from myisam_advisor.texts.lists import listed


def test_no_more_are_named_than_somebody_reads() -> None:
    assert listed([]) == ""
    assert listed(["a", "b", "c"]) == "a, b, c"
    assert listed(["a", "b", "c", "d"]) == "a, b, c and 1 more"
    assert listed(["a", "b", "c"], 1) == "a and 2 more"
    assert listed([str(number) for number in range(1_003)]) == "0, 1, 2 and 1,000 more"
