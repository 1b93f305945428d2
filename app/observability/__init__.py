"""What a replica shows of itself: logs, metrics, health, and who shares what.

    with logging_to(2, replica="app1") as writer:
        observability = Observability(ObservabilityConfig(replica="app1", phase=…, phases=…), writer=writer)
        breaker = Breaker("payments", listeners=[observability.resilience])
        observability.resilience.add(breaker)
        observability.compartments.add(database_pool("database", database, shared_by=…, dies=…))
        observability.components.add(Check(name="redis", look=…, essential=True, without=…))
        observability.install(app)                  # last, so that it is outermost
        async with observability.running(): …       # in the lifespan

One line of JSON for each request and each log record, without paths, queries, cookies, tokens, e-mails or
phone numbers; ``/metrics`` for Prometheus, ``/health`` for people, ``/internal/compartments`` for `chopho`.

Import its modules and not this package: a service that only writes logs needs neither metrics nor drivers.
"""
