"""How old a page is, told when it is sent."""

from myisam_advisor.reports.page.render import aged

PAGE = b'<p>Looked at <time>now</time> <span class="age"></span></p><p>&lt;span class="age"&gt;&lt;/span&gt;</p>'


def test_the_age_is_told_once() -> None:
    page = aged(PAGE, 12.4, 180.0).decode()
    assert '<span class="age" data-seconds="12" data-stale-after="180">12 s ago</span>' in page
    assert "age stale" not in page
    assert page.count("ago") == 1


def test_a_look_that_did_not_come_is_said() -> None:
    page = aged(PAGE, 720.0, 180.0).decode()
    assert '<span class="age stale" data-seconds="720" data-stale-after="180">12 min ago: the next look is overdue</span>' in page


def test_a_page_without_a_look_has_no_age() -> None:
    assert aged(b"<p>nothing</p>", 5.0, 1.0) == b"<p>nothing</p>"
