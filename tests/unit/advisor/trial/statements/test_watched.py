"""What of the watched server's settings a private one is started with."""

from myisam_advisor.trial.statements.watched import meaning_notes, meaning_settings, other_settings, replay_settings
from myisam_advisor.trial.trial import settings_of


def test_what_decides_plans_and_meanings_is_taken_over() -> None:
    variables = {
        "optimizer_switch": "index_merge=on,mrr=off", "myisam_stats_method": "nulls_equal", "old_mode": "", "auto_increment_increment": "2", "max_seeks_for_key": "18446744073709551615",
        "default_storage_engine": "MyISAM", "default_tmp_storage_engine": "", "time_zone": "+02:00", "version": "10.11.6",
    }  # fmt: skip
    assert meaning_settings(variables) == [
        "--loose-optimizer-switch=index_merge=on,mrr=off", "--loose-myisam-stats-method=nulls_equal", "--loose-default-storage-engine=MyISAM",
        "--loose-old-mode=", "--loose-auto-increment-increment=2", "--default-time-zone=+02:00",
    ]  # fmt: skip
    assert list(meaning_notes(variables)) == []


def test_what_a_private_server_would_not_start_with_is_left_and_told() -> None:
    variables = {"default_storage_engine": "ROCKSDB", "time_zone": "Europe/Berlin", "init_connect": "SET NAMES latin1", "sql_select_limit": "1000"}
    assert meaning_settings(variables) == []
    told = " ".join(meaning_notes(variables))
    assert "init_connect is not run" in told
    assert "sql_select_limit (1000)" in told
    assert "time_zone (Europe/Berlin)" in told
    assert list(meaning_notes({"time_zone": "SYSTEM", "init_connect": "", "sql_select_limit": "18446744073709551615"})) == []


def test_what_the_private_server_made_another_of_is_told() -> None:
    words = ["--table-open-cache=4000", "--loose-optimizer-search-depth=62", "--read-buffer-size=131072", "--sql-mode=", "--key-buffer-size=8388608"]
    found = {"table_open_cache": "357", "optimizer_search_depth": "62", "read_buffer_size": "126976", "sql_mode": ""}
    assert list(other_settings(words, found)) == [
        "table_open_cache is 4000 on the watched server; the private one made 357 of it, and was measured so."
    ]


def test_a_switch_that_5_5_reads_as_off_is_given_as_a_number() -> None:
    assert replay_settings({"myisam_use_mmap": "ON"}) == ["--myisam-use-mmap=1"]
    assert replay_settings({"myisam_use_mmap": "OFF", "concurrent_insert": "ALWAYS"}) == ["--concurrent-insert=ALWAYS", "--myisam-use-mmap=OFF"]


def test_stopwords_are_the_watched_servers() -> None:
    assert replay_settings({"ft_stopword_file": "(built-in)", "ft_min_word_len": "3"}) == ["--ft-min-word-len=3"]
    assert replay_settings({"ft_stopword_file": ""}) == ["--ft-stopword-file="]
    assert replay_settings({"ft_stopword_file": "/etc/words"}) == settings_of({"ft_stopword_file": "/etc/words"}) == ["--ft-stopword-file=/etc/words"]
    assert replay_settings({"ft_stopword_file": "words", "datadir": "/data/"}) == ["--ft-stopword-file=/data/words"]
    assert "stopwords (/etc/words)" in " ".join(meaning_notes({"ft_stopword_file": "/etc/words"}))
    assert list(meaning_notes({"ft_stopword_file": ""})) == list(meaning_notes({"ft_stopword_file": "(built-in)"})) == []
