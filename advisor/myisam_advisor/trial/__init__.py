"""Private servers and the loads run against them: what the demo, the tests and the benchmarks stand on."""
