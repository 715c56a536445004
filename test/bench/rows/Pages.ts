import type { Request } from "../load/Connection.ts"
import { authorNumbers, firstReaderNumber, readerNumbers, readersCount } from "../People.ts"
import type { Bench } from "../Row.ts"
import { byReaders, get, row } from "./Requests.ts"

/* Pages of notifications, threads and lists. Each row first writes its own data, once. */

/** Number of favourite notifications per reader, and of mention notifications. */
const favouritesEach = 60
/** Replies in the thread, each to an earlier one. */
const repliesCount = 500

const base = (millis: number) => String(BigInt(millis) << 16n)
const readers = ({ people }: Bench) =>
  `generate_series(${people.accountId(firstReaderNumber)}, ${people.accountId(firstReaderNumber + readersCount - 1)}) r`

/**
 * Writes notifications whose page of 40 has favourites of three posts in one half, and mentions by different people in
 * the other.
 */
const notify = async (bench: Bench) => {
  const { people, server: { query } } = bench
  const now = Date.now()
  const [three, mentions] = [people.statusIds.slice(0, 3), people.statusIds.slice(-favouritesEach)]
  await query(`INSERT INTO notifications (id, account_id, type, from_account_id, status_id, created_at)
    SELECT ${base(now - 86_400_000)} + n * 65536 + r % 65536, r, CASE n % 2 WHEN 0 THEN 'favourite' ELSE 'mention' END,
      ${people.accountId(1)} + n, CASE n % 2 WHEN 0 THEN (ARRAY[${three.join()}])[1 + n % 3]
        ELSE (ARRAY[${mentions.join()}])[1 + n % ${mentions.length}] END, '${new Date(now).toISOString()}'
    FROM ${readers(bench)}, generate_series(1, ${2 * favouritesEach}) n ON CONFLICT DO NOTHING`)
}

export const notifications = row("notifications of 40", 1.5, async (bench) => {
  await notify(bench)
  return byReaders("/api/v1/notifications?limit=40")
})
export const groupedNotifications = row("grouped notifications of 40", 3, async (bench) => {
  await notify(bench)
  return byReaders("/api/v2/notifications?limit=40")
})

/** A public thread by all authors with 500 replies, up to nine levels deep, read by signed-in people. */
export const context = row("context of a thread of 500", 10, async ({ people, server: { query } }) => {
  const root = people.statusIds[0]
  const at = new Date().toISOString()
  const reply = `${base(Date.now() - 3_600_000)} + n * 65536::bigint`
  const before = `CASE WHEN n < 9 THEN ${root} ELSE ${reply.replace("n", "(n / 3)")} END`
  await query(`INSERT INTO statuses (id, account_id, text, html, visibility, language, conversation_id, in_reply_to_id,
      in_reply_to_account_id, created_at)
    SELECT ${reply}, ${people.accountId(1)} + n % ${authorNumbers.length}, 'A reply', '<p>A reply ' || n || '</p>',
      'public', 'en', ${root}, ${before}, ${people.accountId(1)} + n % ${authorNumbers.length}, '${at}'
    FROM generate_series(1, ${repliesCount}) n`)
  await query(`INSERT INTO status_stats (status_id) SELECT ${reply} FROM generate_series(1, ${repliesCount}) n`)
  return readerNumbers.map((number) => get(`/api/v1/statuses/${root}/context`, number))
})

/** A list for each reader with half of the accounts that it follows. */
export const list = row("list of 20", 0.4, async (bench) => {
  const { people, server: { query } } = bench
  const id = base(Date.now() - 86_400_000)
  const offset = `(r - ${people.accountId(0)})`
  // Older checkouts have no lists.
  const write = async () => {
    await query(`INSERT INTO lists (id, account_id, title, replies_policy, exclusive)
      SELECT ${id} + ${offset}, r, 'Half', 'list', false FROM ${readers(bench)}`)
    await query(`INSERT INTO list_accounts (id, list_id, account_id)
      SELECT ${id} + ${offset} * 1000 + n, ${id} + ${offset}, ${people.accountId(0)} + 2 * n
      FROM ${readers(bench)}, generate_series(1, ${authorNumbers.length / 2}) n`)
  }
  await write().catch(() => undefined)
  return readerNumbers.map((number): Request =>
    get(`/api/v1/timelines/list/${BigInt(id) + BigInt(number)}?limit=20`, number)
  )
})
