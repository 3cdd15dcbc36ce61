-- Nothing in the ledger is ever changed or deleted; corrections are entries.

CREATE TRIGGER transactions_never_change BEFORE UPDATE ON transactions
BEGIN SELECT RAISE(ABORT, 'transactions are never changed'); END;
CREATE TRIGGER transactions_never_go BEFORE DELETE ON transactions
BEGIN SELECT RAISE(ABORT, 'transactions are never deleted'); END;
CREATE TRIGGER postings_never_change BEFORE UPDATE ON postings
BEGIN SELECT RAISE(ABORT, 'postings are never changed'); END;
CREATE TRIGGER postings_never_go BEFORE DELETE ON postings
BEGIN SELECT RAISE(ABORT, 'postings are never deleted'); END;
