import { assert } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import type { SqlClient } from "effect/sql"
import type { Load } from "./Load.ts"
import { type Account, type Node, requestUntilServed } from "./Nodes.ts"

/** Completes when no fan-out is left. */
export const fanOutsDone = (sql: SqlClient.SqlClient) =>
  Effect.repeat(sql`SELECT 1 FROM fanouts LIMIT 1`, {
    until: (waiting) => waiting.length === 0,
    schedule: Schedule.spaced("50 millis")
  })

/**
 * Checks that everything with a 200 response is in Postgres once, and that everything without a response is there at
 * most once.
 */
export const storedOnce = Effect.fnUntraced(function*(sql: SqlClient.SqlClient, load: Load) {
  const stored = yield* sql<{ id: bigint; text: string }>`
    SELECT id, text FROM statuses WHERE text LIKE 'post %' AND deleted_at IS NULL`
  const byText = new Map(stored.map(({ id, text }) => [text, String(id)]))
  assert.strictEqual(stored.length, byText.size, "a post is stored twice")
  assert.deepStrictEqual([...load.acknowledged].filter(([text, id]) => byText.get(text) !== id), [])
  const interactions = yield* sql<{ interaction: string }>`
    SELECT concat('favourite ', account_id, ' ', status_id) AS interaction FROM favourites
    UNION ALL SELECT concat('bookmark ', account_id, ' ', status_id) FROM bookmarks`
  const found = new Set(interactions.map(({ interaction }) => interaction))
  assert.deepStrictEqual([...load.interactions].filter((interaction) => !found.has(interaction)), [])
  const twice = yield* sql`
    SELECT account_id FROM notifications GROUP BY account_id, type, from_account_id, status_id HAVING count(*) > 1`
  assert.deepStrictEqual(twice, [])
  return { posts: load.acknowledged.size, interactions: load.interactions.size }
})

const idsOf = (body: unknown): ReadonlyArray<string> =>
  Array.isArray(body) ? body.map((status: { readonly id: string }) => status.id) : []

/** Returns all ids of a user's home, page by page. */
const home = Effect.fnUntraced(function*(node: Node, person: Account) {
  const seen: Array<string> = []
  for (let path = "/api/v1/timelines/home?limit=40"; path !== "";) {
    const response = yield* requestUntilServed(node, person, path)
    // The page is correct while a home is still being rebuilt, too (D-017).
    assert.include([200, 206], response.status)
    const found = idsOf(response.body)
    seen.push(...found)
    path = found.length === 0 ? "" : `/api/v1/timelines/home?limit=40&max_id=${found.at(-1)}`
  }
  return seen
})

/** Returns the names of accounts whose home is not exactly their own and their followed accounts' posts, in order. */
export const wrongHomes = Effect.fnUntraced(
  function*(sql: SqlClient.SqlClient, node: Node, people: ReadonlyArray<Account>) {
    const wrong = yield* Effect.forEach(people, (person) =>
      Effect.gen(function*() {
        const expected = yield* sql<{ id: bigint }>`
          SELECT id FROM statuses WHERE deleted_at IS NULL AND (account_id = ${person.id} OR account_id IN
            (SELECT target_account_id FROM follows WHERE account_id = ${person.id})) ORDER BY id DESC`
        const seen = yield* home(node, person)
        return seen.join() === expected.map(({ id }) => String(id)).join() ? [] : [person.username]
      }), { concurrency: 2 })
    return wrong.flat()
  }
)

/**
 * Lets every account follow the next `each` accounts, through the nodes in turn; retries while accounts move to another
 * node.
 */
export const followOthers = (nodes: ReadonlyArray<Node>, people: ReadonlyArray<Account>, each: number) =>
  Effect.forEach(
    people.flatMap((person, n) =>
      Array.from({ length: each }, (_, k) => ({ person, target: people[(n + k + 1) % people.length]! }))
    ),
    ({ person, target }, n) =>
      requestUntilServed(nodes[n % nodes.length]!, person, `/api/v1/accounts/${target.id}/follow`, {
        method: "POST"
      }).pipe(Effect.map(({ body, status }) => assert.strictEqual(status, 200, JSON.stringify(body)))),
    { concurrency: 4, discard: true }
  )
