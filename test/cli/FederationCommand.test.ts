import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { cli } from "../support/CommandLine.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

const run = (...args: ReadonlyArray<string>) =>
  Effect.flatMap(
    TestDatabase,
    ({ url }) => cli(["federation", ...args], { DATABASE_URL: url, PUBLIC_URL: "https://here.test" })
  )

/** Inserts a post of Ada's that one server has received and another has refused or missed for an hour. */
const seed = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const [now, at] = [Date.now(), new Date(Date.now() - 3_600_000)]
  yield* sql`INSERT INTO accounts (id, username, created_at, updated_at) VALUES (1, 'ada', ${at}, ${at})`
  yield* sql`INSERT INTO statuses (id, account_id, visibility, conversation_id, created_at) VALUES (7, 1, 'public', 7, ${at})`
  for (const [id, host] of [[2, "well.test"], [3, "slow.test"]] as const) {
    yield* sql`INSERT INTO accounts (id, username, domain, uri, created_at, updated_at)
      VALUES (${id}, 'bob', ${host}, ${`https://${host}/users/bob`}, ${at}, ${at})`
    yield* sql`INSERT INTO remote_actors (account_id, type, inbox_url, fetched_at)
      VALUES (${id}, 'Person', ${`https://${host}/inbox`}, ${at})`
    yield* sql`INSERT INTO follows (id, account_id, target_account_id, created_at) VALUES (${id}, ${id}, 1, ${at})`
  }
  yield* sql`INSERT INTO outgoing_activities (sender_id, type, uri, about, document, created_at)
    VALUES (1, 'Create', 'https://here.test/users/ada/statuses/7/activity', 7, '{}', ${at})`
  yield* sql`INSERT INTO reaches SELECT 7, array_agg(id) FROM inboxes`
  yield* sql`INSERT INTO deliveries (inbox_id, about, activity_id, host_id, tries, due_at, error)
    SELECT i.id, 7, a.id, i.host_id, 3, ${new Date(now + 600_000)}, '503 busy' FROM inboxes i, outgoing_activities a
    WHERE i.url = 'https://slow.test/inbox'`
})

layer(TestDatabase.layer, { excludeTestServices: true })("npm run cli -- federation", (it) => {
  it.effect(
    "lists pending deliveries with host and reason; a queued or refused one is not called sent (F275); pauses, resumes and hurries",
    () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        assert.strictEqual((yield* run("queue")).out, "All delivery queues are empty.\n")
        yield* seed
        const { code, err, out } = yield* run("queue")
        assert.strictEqual(code, 0, err)
        assert.match(
          out,
          /^slow\.test: 1 waiting, the oldest for 60 minutes; the next one retries in 10 minutes; last error: 503 busy$/m
        )
        const told = yield* run("explain", "https://here.test/@ada/7")
        assert.match(told.out, /^The post is public\.$/m)
        assert.match(told.out, /^Its author has 2 followers on 2 other servers\.$/m)
        assert.match(
          told.out,
          /^It has 2 receivers on other servers:\n {2}https:\/\/slow\.test\/inbox: queued\n {2}https:\/\/well\.test\/inbox: sent$/m
        )
        assert.match(
          told.out,
          /^ {2}Create to https:\/\/slow\.test\/inbox retries in 10 minutes, after 3 tries \(503 busy\)$/m
        )
        assert.notMatch(told.out, /refused|gone/)
        const at = new Date("2026-01-02T03:04:05Z")
        yield* sql`UPDATE inboxes SET refused_at = ${at}, refused_about = 7, refusal = '403 not you'
        WHERE url = 'https://well.test/inbox'`
        yield* sql`UPDATE inboxes SET gone_at = ${at} WHERE url = 'https://slow.test/inbox'`
        const why = yield* run("explain", "https://here.test/@ada/7")
        assert.match(why.out, /^ {2}https:\/\/well\.test\/inbox: refused$/m)
        assert.match(why.out, /^It was refused by https:\/\/well\.test\/inbox: 403 not you$/m)
        assert.match(
          why.out,
          /^Deliveries to https:\/\/slow\.test\/inbox are stopped: it returned 410 at 2026-01-02T03:04:05\.000Z/m
        )
        assert.match((yield* run("pause", "slow.test")).out, /are paused/)
        assert.match((yield* run("queue")).out, /paused by you/)
        assert.match((yield* run("retry", "SLOW.test")).out, /^Retrying 1 deliveries to slow\.test now/)
        const [row] = yield* sql`SELECT d.due_at <= ${new Date()} AS due, h.paused_by FROM deliveries d
        JOIN hosts h ON h.id = d.host_id`
        assert.deepStrictEqual(row, { due: true, pausedBy: null })
        assert.match((yield* run("resume", "well.test")).out, /are resumed/)
        const wrong = yield* run("pause", "nobody.test")
        assert.deepInclude(wrong, { code: 1, err: "Nothing was ever sent to nobody.test\n" })
        assert.strictEqual((yield* run("explain", "https://here.test/@ada/8")).code, 1)
      })
  )

  it.effect(
    "F43: explains an inbound activity: by its id, its sender's id and our number",
    () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const at = new Date()
        const actor = "https://far.test/users/eve"
        assert.strictEqual((yield* run("dead", "--outcomes")).out, "No activities were received.\n")
        yield* sql`INSERT INTO accounts (id, username, domain, uri, created_at, updated_at)
        VALUES (9, 'eve', 'far.test', ${actor}, ${at}, ${at})`
        const came = [[71, "like", "ignored: an unknown post"], [72, "note", "done"], [73, "slow", null]] as const
        for (const [id, name, outcome] of came) {
          yield* sql`INSERT INTO inbound_activities (id, account_id, uri, received_at, due_at, signed_at, tries, outcome)
          VALUES (${id}, 9, ${`${actor}#${name}`}, ${at}, ${at}, ${at}, 2, ${outcome})`
        }
        const line = (id: number, name: string, what: string) =>
          `${id}\t${at.toISOString()}\t${actor}\t${actor}#${name}\t${what}\n`
        assert.strictEqual((yield* run("explain", `${actor}#like`)).out, line(71, "like", "ignored: an unknown post"))
        assert.strictEqual((yield* run("explain", "72")).out, line(72, "note", "done"))
        assert.strictEqual(
          (yield* run("explain", actor)).out,
          line(73, "slow", "waiting, after 2 tries") + line(72, "note", "done") +
            line(71, "like", "ignored: an unknown post")
        )
        assert.strictEqual((yield* run("dead", "--outcomes")).out, "1\tdone\n1\tignored: an unknown post\n")
      })
  )
})
