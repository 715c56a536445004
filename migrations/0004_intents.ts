import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Durable work of actors. A command inserts the rows in its own transaction; whoever does the work deletes them. */
const statements = [
  // Response of each committed command, by its idempotency id; kept for a day. `family` names the rate limit that the
  // command used, so that a new activation of the owner counts earlier use. `epoch` is the owner's epoch: in commit
  // order it never falls.
  `CREATE TABLE commands (
    account_id bigint NOT NULL,
    id text NOT NULL,
    answer jsonb NOT NULL,
    family text,
    epoch bigint NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (account_id, id)
  )`,
  `CREATE INDEX commands_created ON commands USING brin (created_at)`,
  // Progress of telling followers and servers: \`phase\` and \`cursor\`.
  `CREATE TABLE fanouts (
    id bigint PRIMARY KEY,
    account_id bigint NOT NULL,
    kind text NOT NULL,
    status_id bigint,
    details jsonb,
    phase integer NOT NULL DEFAULT 0,
    cursor bigint NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL
  ) WITH (fillfactor = 70)`,
  `CREATE INDEX fanouts_account ON fanouts (account_id, id)`,
  `CREATE INDEX fanouts_created ON fanouts (created_at)`,
  // Timed work: the singleton Agenda wakes the owner, who does the work and deletes the row.
  `CREATE TABLE agenda (
    kind text NOT NULL,
    subject_id bigint NOT NULL,
    account_id bigint NOT NULL,
    due_at timestamptz NOT NULL,
    PRIMARY KEY (kind, subject_id)
  )`,
  `CREATE INDEX agenda_due ON agenda (due_at)`,
  `CREATE INDEX agenda_account ON agenda (account_id, due_at)`,
  // Commands from outside the cluster (the command line), run by the account's actor.
  `CREATE TABLE account_intents (
    id bigint PRIMARY KEY,
    account_id bigint NOT NULL,
    kind text NOT NULL,
    details jsonb NOT NULL DEFAULT '{}',
    created_at timestamptz NOT NULL
  )`,
  `CREATE INDEX account_intents_account ON account_intents (account_id, id)`
]

export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
