-- Alerts, and which of them are not delivered to the webhook yet. Times are Unix
-- milliseconds.

CREATE TABLE alerts (
	id TEXT NOT NULL PRIMARY KEY,
	at BIGINT NOT NULL,
	kind TEXT NOT NULL,
	channel TEXT NOT NULL,
	credential TEXT NOT NULL,
	model TEXT NOT NULL, -- upstream's
	message TEXT NOT NULL,
	state TEXT NOT NULL CHECK (state IN ('firing', 'resolved')),
	delivery TEXT NOT NULL CHECK (delivery IN ('none', 'pending', 'sent', 'given_up')),
	tries BIGINT NOT NULL DEFAULT 0,
	next_try BIGINT NOT NULL DEFAULT 0
) /*!sqlite WITHOUT ROWID */;
CREATE INDEX alerts_pending ON alerts (next_try) WHERE delivery = 'pending';
CREATE INDEX alerts_firing ON alerts (kind) WHERE state = 'firing';
