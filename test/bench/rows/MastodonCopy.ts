import { generateKeyPairSync } from "node:crypto"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { schema } from "../../support/mastodon/Schema.ts"
import { openPostgres, type Query } from "../Backing.ts"
import * as BenchServer from "../BenchServer.ts"
import type { Checkout } from "../Checkout.ts"
import type { Bench, Measured, Row } from "../Row.ts"

/** Numbers of local posts and local accounts. Posts of other servers add a third, and boosts a tenth. */
const sizes = {
  quick: { posts: 30_000, members: 300 },
  long: { posts: 300_000, members: 1_000 },
  full: { posts: 2_100_000, members: 10_000 }
}
/** Target: a server with this many posts is copied in less than an hour. */
const targetPosts = 3_000_000
const targetMinutes = 60

/** Indexes of Mastodon's tables that the copy's queries use. */
const indexes = [
  "statuses (reblog_of_id, account_id)",
  "statuses (in_reply_to_id) WHERE in_reply_to_id IS NOT NULL",
  "mentions (status_id)",
  "mentions (account_id, status_id)",
  "statuses_tags (status_id)",
  "favourites (status_id)",
  "bookmarks (status_id)",
  "status_pins (status_id)",
  "media_attachments (status_id)",
  "follows (account_id, target_account_id)",
  "users (account_id)",
  "quotes (status_id)",
  "poll_votes (poll_id)",
  "preview_cards_statuses (status_id)"
]

/** Fills a database of Mastodon 4.5: members, remote accounts, posts of both, and rows that refer to them. */
const fill = async (query: Query, { members, posts }: typeof sizes.long) => {
  await query("SET statement_timeout = 0")
  await query("SET maintenance_work_mem = '256MB'")
  // Without a log, and with indexes at the end, the fill takes a fraction of the time.
  for (const statement of schema("4.5")) await query(statement.replace("CREATE TABLE", "CREATE UNLOGGED TABLE"))
  const pairs = Array.from({ length: 8 }, () =>
    generateKeyPairSync("rsa", {
      modulusLength: 2_048,
      publicKeyEncoding: { type: "spki", format: "pem" },
      privateKeyEncoding: { type: "pkcs8", format: "pem" }
    }))
  const pem = (kind: "privateKey" | "publicKey") =>
    `(ARRAY[${pairs.map((pair) => `'${pair[kind]}'`).join(", ")}])[n % ${pairs.length} + 1]`
  const remoteCount = members * 5
  const remotePosts = Math.floor(posts / 3)
  const first = BigInt(Date.UTC(2024, 0)) << 16n
  const localAccount = (n: string) => `(1 + (${n}) % ${members})`
  const remoteAccount = (n: string) => `(${members} + 1 + (${n}) % ${remoteCount})`
  const post = (n: string) => `(${first} + (${n})::bigint * 65536)`
  const times = "now() - interval '10 days', now() - interval '10 days'"
  const each = (count: number, columns: string) => `SELECT ${columns} FROM generate_series(1, ${count}) n`
  await query(`INSERT INTO accounts (id, username, private_key, public_key, note, display_name, id_scheme)
    ${each(members, `n, 'member' || n, ${pem("privateKey")}, ${pem("publicKey")}, 'About member ' || n, 'Member', 0`)}`)
  await query(`INSERT INTO accounts (id, username, domain, uri, url, inbox_url, shared_inbox_url, public_key)
    ${
    each(
      remoteCount,
      `${members} + n, 'stranger' || n, 'far' || n % 500 || '.example', 'https://far' || n % 500 || '.example/users/' || n,
       'https://far' || n % 500 || '.example/@' || n, 'https://far' || n % 500 || '.example/users/' || n || '/inbox',
       'https://far' || n % 500 || '.example/inbox', ${pem("publicKey")}`
    )
  }`)
  await query(`INSERT INTO users (id, account_id, email, encrypted_password, confirmed_at)
    ${each(members, "n, n, 'member' || n || '@mail.example', '$2a$10$' || repeat('x', 53), now()")}`)
  await query(`INSERT INTO tags (id, name) ${each(1_000, "n, 'tag' || n")}`)
  await query(`INSERT INTO conversations (id) ${each(posts, "n")}`)
  const text = (n: string) =>
    `'A post of the copy with a #tag' || ${n} % 1000 || ' and @member' || ${n} % ${members} || ' ' ||
    repeat('word ', ${n} % 40)`
  await query(`INSERT INTO statuses (id, account_id, text, local, uri, conversation_id, in_reply_to_id,
      in_reply_to_account_id, language, created_at, updated_at)
    ${
    each(
      posts,
      `${post("n")}, ${localAccount("n * 7")}, ${text("n")}, true, 'https://old.example/' || n, n,
       CASE WHEN n % 5 = 0 THEN ${post("n - 1")} END, CASE WHEN n % 5 = 0 THEN ${
        localAccount("(n - 1) * 7")
      } END, 'en', ${times}`
    )
  }`)
  await query(`INSERT INTO statuses (id, account_id, text, local, uri, url, language, created_at, updated_at)
    ${
    each(
      remotePosts,
      `${post("n")} + 1, ${remoteAccount("n * 7")}, '<p>A post from far away, number ' || n || '</p>', false,
       'https://far.example/posts/' || n, 'https://far.example/@s/' || n, 'en', ${times}`
    )
  }`)
  await query(`INSERT INTO statuses (id, account_id, local, reblog_of_id, created_at, updated_at)
    ${
    each(Math.floor(posts / 10), `${post("n * 3")} + 2, ${localAccount("n * 11")}, true, ${post("n * 3")}, ${times}`)
  }`)
  await query(`INSERT INTO mentions (status_id, account_id)
    ${each(Math.floor(posts / 2), `${post("n * 2")}, ${localAccount("n * 2")}`)}`)
  await query(`INSERT INTO statuses_tags (status_id, tag_id)
    ${each(Math.floor(posts / 2), `${post("n * 2")}, 1 + (n * 2) % 1000`)}`)
  await query(`INSERT INTO favourites (id, account_id, status_id)
    ${
    each(
      posts,
      `n, ${localAccount("n * 13 + n / 1000")}, ${post("n")} + CASE WHEN n <= ${remotePosts} THEN n % 2 ELSE 0 END`
    )
  }`)
  await query(`INSERT INTO follows (id, account_id, target_account_id)
    SELECT row_number() OVER (), a, t FROM generate_series(1, ${members}) a,
      LATERAL (SELECT DISTINCT 1 + (a * 31 + k * k) % ${
    members + remoteCount
  } AS t FROM generate_series(1, 40) k) x WHERE a <> t`)
  for (const index of indexes) await query(`CREATE INDEX ON ${index}`)
  await query("VACUUM ANALYZE")
}

/** Starts a server without users, for a copy. */
export const start = async (_dataDir: string, checkout?: Checkout): Promise<BenchServer.RunningServer> => {
  const { folder, remove } = await BenchServer.makeDataDir()
  const server = await BenchServer.single(folder, {}, checkout)
  return { ...server, stop: () => server.stop().then(remove) }
}

/** Returns the rows per second of each step that copied enough rows for a rate. */
const ratesIn = (output: string) =>
  Object.fromEntries(
    Array.from(
      output.matchAll(/^(\S.{0,23}?) +\d+ copied.*, (\d+) a second$/gm),
      ([, name = "", rate]) => [`${name} a second`, Number(rate)]
    )
  )

/** Duration of the operator's command, with another Postgres on this machine as the source. */
export const mastodonCopy: Row = {
  name: "copy from Mastodon",
  measure: async ({ options, server }: Bench): Promise<ReadonlyArray<Measured>> => {
    const size = options.full ? sizes.full : options.quick ? sizes.quick : sizes.long
    const data = await BenchServer.makeDataDir()
    const mastodon = await openPostgres(data.folder, true)
    try {
      await fill(mastodon.query, size)
      const env = join(data.folder, ".env.production")
      writeFileSync(env, `LOCAL_DOMAIN=localhost:${server.port}\n`)
      const began = performance.now()
      const args = ["--database", mastodon.url, "--env", env, "--rejects", join(data.folder, "rejects.tsv")]
      const output = await server.command(["transfer", "mastodon", "copy", ...args])
      const seconds = (performance.now() - began) / 1_000
      const [row] = await server.query("SELECT count(*)::int AS posts FROM statuses")
      const posts = Number(row?.["posts"])
      const minutes = seconds * targetPosts / posts / 60
      return [{
        name: mastodonCopy.name,
        perSecond: posts / seconds,
        figures: { posts, seconds: Math.round(seconds), ...ratesIn(output) },
        target: {
          text: `${targetPosts} posts in ${targetMinutes} minutes; at this rate ${minutes.toFixed(0)}`,
          met: minutes < targetMinutes
        }
      }]
    } finally {
      await mastodon.close()
      await data.remove()
    }
  }
}
