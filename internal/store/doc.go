// Package store opens the database, migrates it, and runs work on it: writers
// with group commit (SQLite has one), and readers beside them.
//
// It is for connections, transactions, outages and the differences between
// databases. It is not for tables: their SQL is in the packages that own
// them. Statements are written once for all databases, with ? for parameters.
//
// Invariant: when Write returns nil, everything its op did is durable; when it
// returns an error other than ErrUncertain, nothing of it is.
//
// # How an operation travels
//
// The picture follows one call of Write. The columns are the caller, the
// writer's goroutine and the database; in parentheses is the function.
//
//	caller                      writer                               database
//	──────                      ──────                               ────────
//	Write(op, announce…)
//	  │ a job in the queue
//	  ├───────────────────────▶ batch: all jobs that are queued,
//	  │ waits                   at most maxBatch (collect)
//	  │                           │
//	  │                         announce: each job notes in a Pending
//	  │                         which rows its op will need (Tx.begin)
//	  │                           │
//	  │                         load: each Preloader names those rows
//	  │                         with Tx.Preload (Tx.start)
//	  │                           ├── BEGIN and the SELECTs, one ────▶ locks rows
//	  │                           │   exchange                         in key order
//	  │                           │◀─ rows, given to the Preloader ────
//	  │                           │
//	  │                         run: op after op (Tx.run). An op
//	  │                         moves values in a Pending, or puts
//	  │                         rows off with Insert, Add, Delete
//	  │                           │
//	  │                         flush: each Pending puts off what was
//	  │                         gathered (Pending.Flush); the rows of
//	  │                         a statement are joined (Tx.waiting)
//	  │                           │
//	  │                         commit (DB.commit)
//	  │                           ├── statements, mark, COMMIT, one ─▶ durable
//	  │                           │   exchange
//	  │ answer                    │◀─ done ─────────────────────────────
//	  ◀───────────────────────────┘ (job.end): nil, or the op's refusal
//
// Who does what:
//
//   - A Pending is what a package gathers over all ops of one transaction, such
//     as the balance that many ops change. Tx.Pending makes it at its first use.
//   - A Preloader is a Pending with a Load: it reads what was announced, for all
//     ops at once. Packages offer an Expect that makes the announcement, such as
//     ledger.Expect and cluster.Expect. A package may also read, one by one,
//     what was not announced: ledger does, cluster.Check does not.
//   - A deferred row is one that Insert, Add or Delete took. Queries of the same
//     transaction do not see it before a Flush.
//
// What may go another way:
//
//   - An op that returns an error before it wrote anything is refused alone;
//     the others of the batch go on.
//   - An op that panics or fails after a write, or any error of the database,
//     rolls the whole transaction back. Where a second run may help, the batch
//     runs again (persist); otherwise each job runs in a transaction of its own
//     (runBatch), unless the database is away or the result is uncertain.
//   - A job that its caller withdrew is left out before a run (wanted), and
//     prevents the COMMIT of a run that it is part of (commits).
//   - If the connection is lost during the COMMIT, the mark shows whether the
//     transaction was carried out (commit.go). Where that cannot be learned, the
//     answer is ErrUncertain.
//   - A transaction that wrote nothing is rolled back; there is no COMMIT.
//
// SQLite has one writer and no row locks. It reads and writes the same way, with
// lists of values instead of arrays and without a mark (DB.hasMark).
package store
