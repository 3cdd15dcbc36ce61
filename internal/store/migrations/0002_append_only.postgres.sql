-- Nothing in the ledger is ever changed or deleted; corrections are entries.

CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	RAISE EXCEPTION '% are never changed or deleted', TG_TABLE_NAME;
END $$;
CREATE TRIGGER transactions_never_change BEFORE UPDATE OR DELETE ON transactions
	FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER transactions_never_go BEFORE TRUNCATE ON transactions
	FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER postings_never_change BEFORE UPDATE OR DELETE ON postings
	FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER postings_never_go BEFORE TRUNCATE ON postings
	FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
