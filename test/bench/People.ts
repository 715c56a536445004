import type { Query } from "./Backing.ts"
import { sleep } from "./Row.ts"

/* Accounts of the measured server, by number. Each has a token with that number. */

const firstAuthor = 1
const authors = 100
const statusesEach = 40
export const firstReaderNumber = 101
export const readersCount = 50
const [firstReader, readers] = [firstReaderNumber, readersCount]
const firstPoster = 201
const posters = 200
/** Number of followers of each account that posts in the row for posting. */
export const followersOfPoster = 20
export const streamer = 505
/** Account with few followers, whose posts are measured while a large account posts. */
export const small = 504
const firstOfSmall = 701
export const listeners = 1_000
const firstFollower = 1_001

export const sizes = [1_000, 10_000, 100_000] as const
export type Size = typeof sizes[number]
/** Accounts by their number of followers. */
export const large: Record<Size, number> = { 1000: 501, 10000: 502, 100000: 503 }

export const token = (number: number) => `token-of-account-${number}-for-the-bench`
const range = (first: number, count: number) => Array.from({ length: count }, (_, n) => first + n)

export const readerNumbers = range(firstReader, readers)
export const posterNumbers = range(firstPoster, posters)
export const authorNumbers = range(firstAuthor, authors)
/** Followers of `small`, who follow no other accounts. */
export const followersOfSmall = range(firstOfSmall, followersOfPoster)
export const followerNumbers = (count: number) => range(firstFollower, count)

/** Author of the status at this index of `statusIds`. */
export const authorOf = (at: number): number => firstAuthor + (at + 1) % authors

export interface People {
  /** Total number of accounts. */
  readonly accounts: number
  readonly accountId: (number: number) => bigint
  readonly statusIds: ReadonlyArray<bigint>
}

/** Waits until the search index is up to date, so that no row pays for indexing. Older checkouts have no index. */
const indexed = async (query: Query): Promise<void> => {
  const [index] = await query("SELECT to_regclass('search_queue') IS NOT NULL AS there")
  if (index?.["there"] !== true) return
  for (;;) {
    const [queue] = await query("SELECT EXISTS (SELECT FROM search_queue) AS waits")
    if (queue?.["waits"] === false) return
    await sleep(50)
  }
}

/** Fills the database; returns the accounts and posts in it. */
export const seed = async (query: Query, followersMax: Size): Promise<People> => {
  const accounts = firstFollower + followersMax - 1
  const now = Date.now()
  const [accountBase, statusBase, rowBase] = [30, 20, 10].map((days) => BigInt(now - days * 86_400_000) << 16n)
  const [at, then] = [new Date(now).toISOString(), new Date(now - 30 * 86_400_000).toISOString()]
  const each = (select: string) => `SELECT ${select} FROM generate_series(1, ${accounts}) n`
  const accountId = (number: number) => (accountBase ?? 0n) + BigInt(number)
  const id = (number: string) => `${accountBase} + ${number}`

  await query(`INSERT INTO accounts (id, username, display_name, note, note_html, created_at, updated_at)
    ${each(`${id("n")}, 'person' || n, 'Person number ' || n, 'About me', '<p>About me</p>', '${then}', '${then}'`)}`)
  await query(`INSERT INTO actors (account_id) ${each(id("n"))}`)
  await query(`INSERT INTO account_stats (account_id) ${each(id("n"))}`)
  await query(`INSERT INTO users (account_id, email, password_hash, confirmed_at, last_seen_at, created_at)
    ${each(`${id("n")}, 'person' || n || '@example.org', '', '${then}', '${at}', '${then}'`)}`)
  await query(`INSERT INTO oauth_tokens (id, token_hash, account_id, scopes, last_used_at, created_at)
    ${
    each(`${rowBase} + n, sha256(convert_to('${token(0).replace("0", "' || n || '")}', 'UTF8')), ${id("n")},
      'profile read write follow push', '${at}', '${then}'`)
  }`)

  let follows = 0
  const follow = async (follower: string, target: string, from: string, count: number) => {
    await query(`INSERT INTO follows (id, account_id, target_account_id, created_at)
      SELECT ${rowBase} + ${follows} + row_number() OVER (), ${id(follower)}, ${id(target)}, '${then}' FROM ${from}`)
    follows += count
  }
  const pairs = (left: string, from: number, count: number, right: string, first: number, times: number) =>
    `generate_series(${from}, ${from + count - 1}) ${left}, generate_series(${first}, ${first + times - 1}) ${right}`
  await follow("r", "a", pairs("r", firstReader, readers, "a", firstAuthor, authors), readers * authors)
  const some = pairs("p", firstPoster, posters, "k", 0, followersOfPoster)
  await follow(`(${firstFollower} + (p * 37 + k) % 900)`, "p", some, posters * followersOfPoster)
  const others = (first: number, count: number) => `generate_series(${first}, ${first + count - 1}) f`
  await follow("f", String(streamer), others(firstFollower, listeners), listeners)
  await follow("f", String(small), others(firstOfSmall, followersOfPoster), followersOfPoster)
  for (const size of sizes.filter((size) => size <= followersMax)) {
    await follow("f", String(large[size]), others(firstFollower, size), size)
  }

  const statuses = authors * statusesEach
  const statusId = (number: bigint) => (statusBase ?? 0n) + number * 65_536n
  const text =
    "Status ' || n || ': what a person writes on an ordinary day, some two hundred characters of it, with a " +
    "thought that goes on for a while, a second sentence that says something else, and an end."
  const row = `${statusBase} + n * 65536::bigint`
  await query(`INSERT INTO statuses (id, account_id, text, html, visibility, language, conversation_id, created_at)
    SELECT ${row}, ${id(`(${firstAuthor} + n % ${authors})`)}, '${text}', '<p>${text}</p>', 'public', 'en', ${row},
      to_timestamp((${row} >> 16) / 1000.0) FROM generate_series(1, ${statuses}) n`)
  await query(`INSERT INTO status_stats (status_id, replies_count, reblogs_count, favourites_count)
    SELECT ${row}, n % 3, n % 5, n % 7 FROM generate_series(1, ${statuses}) n`)
  await query(`INSERT INTO favourites (id, account_id, status_id)
    SELECT ${rowBase} + n, ${id(`(${firstReader} + n % ${readers})`)}, ${row} FROM generate_series(1, ${statuses}) n`)
  await query(`UPDATE account_stats s SET
    followers_count = (SELECT count(*) FROM follows f WHERE f.target_account_id = s.account_id),
    following_count = (SELECT count(*) FROM follows f WHERE f.account_id = s.account_id),
    statuses_count = (SELECT count(*) FROM statuses t WHERE t.account_id = s.account_id),
    last_status_at = (SELECT max(created_at) FROM statuses t WHERE t.account_id = s.account_id)
    WHERE account_id <= ${id("1000")}`)
  await indexed(query)
  await query("VACUUM ANALYZE")
  await query("CHECKPOINT")
  return { accounts, accountId, statusIds: Array.from({ length: statuses }, (_, n) => statusId(BigInt(n + 1))) }
}
