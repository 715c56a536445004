import { type Spent, spent } from "../Cpu.ts"
import { readerNumbers, token } from "../People.ts"
import { type Bench, type Measured, type Row, sleep } from "../Row.ts"

const postsCount = 100_000
const tagsCount = 2_000
const linksCount = 1_000
const connections = 8
const readsCount = 2_000
/** Duration of the measurement of the idle server, in milliseconds. */
const idleMillis = 10_000

/**
 * Adds posts of the last hours by all accounts. Each has a hashtag and two favourites, every fifth a link. A few
 * hashtags, links and posts get most of the use.
 */
const seed = async ({ people, server: { query } }: Bench) => {
  const now = Date.now()
  const at = new Date(now).toISOString()
  const [tags, cards, posts] = [now - 3, now - 2, now - 3_600_000].map((millis) => String(BigInt(millis) << 16n))
  const base = people.accountId(0)
  const someone = (n: string) => `${base} + 1 + (${n}) % ${people.accounts}`
  // A skewed choice (third power): low numbers are chosen often.
  const few = (n: string, count: number) => `floor(${count} * power((${n} % 9973) / 9973.0, 3))::int`
  const post = `${posts} + n`
  await query(`UPDATE accounts SET discoverable = true`)
  await query(`INSERT INTO tags (id, name, display_name, created_at)
    SELECT ${tags} + n, 'trend' || n, 'Trend' || n, '${at}' FROM generate_series(0, ${tagsCount - 1}) n`)
  await query(`INSERT INTO preview_cards (id, url_key, url, site, fetched_at, details, image_name, created_at)
    SELECT ${cards} + n, 'trend' || n, 'https://site' || n % 50 || '.test/' || n, 'site' || n % 50 || '.test', '${at}',
      '{"version": 1, "title": "t", "description": "d", "language": "en", "type": "link", "authorName": "", "authorUrl": "",
        "providerName": "p", "providerUrl": "", "html": "", "width": 0, "height": 0, "embedUrl": "", "imageDescription": "",
        "publishedAt": null}', 'x.png', '${at}' FROM generate_series(0, ${linksCount - 1}) n`)
  await query(`INSERT INTO statuses (id, account_id, text, html, visibility, language, conversation_id, created_at)
    SELECT ${post}, ${
    someone("n * 31::bigint")
  }, '', '', 'public', 'en', ${post}, '${at}' FROM generate_series(1, ${postsCount}) n`)
  await query(`INSERT INTO statuses_tags (tag_id, status_id)
    SELECT ${tags} + ${few("n * 7", tagsCount)}, ${post} FROM generate_series(1, ${postsCount}) n`)
  await query(`INSERT INTO tag_days (tag_id, day, account_id)
    SELECT t.tag_id, '${at.slice(0, 10)}', s.account_id FROM statuses_tags t JOIN statuses s ON s.id = t.status_id
    WHERE s.id > ${posts} ON CONFLICT DO NOTHING`)
  await query(`INSERT INTO status_cards (status_id, card_id, url)
    SELECT ${post}, ${cards} + ${few("n * 11", linksCount)}, 'u' FROM generate_series(1, ${postsCount}, 5) n`)
  await query(`INSERT INTO favourites (id, account_id, status_id)
    SELECT ${posts} + n, ${someone("n * 17::bigint")}, ${posts} + 1 + ${few("n * 13", postsCount)}
    FROM generate_series(1, ${2 * postsCount}) n ON CONFLICT DO NOTHING`)
  await query(`INSERT INTO status_stats (status_id, favourites_count)
    SELECT s.id, (SELECT count(*) FROM favourites f WHERE f.status_id = s.id) FROM statuses s WHERE s.id > ${posts}`)
  await query(`UPDATE tags SET trendable = true WHERE id >= ${tags}`)
  await query(`INSERT INTO preview_card_providers (id, site, trendable)
    SELECT n, 'site' || n || '.test', true FROM generate_series(0, 49) n`)
  await query(`UPDATE accounts SET trendable = true`)
  await query("VACUUM ANALYZE")
}

const share = (a: Spent, part: number): Spent => ({
  node: a.node * part,
  postgres: a.postgres * part,
  redis: a.redis * part
})
const difference = (a: Spent, b: Spent): Spent => ({
  node: a.node - b.node,
  postgres: a.postgres - b.postgres,
  redis: a.redis - b.redis
})

/** The agenda's computation of all trends, which blocks no request, and requests that read them. */
export const trends: Row = {
  name: "trends over 100,000 posts",
  measure: async (bench): Promise<ReadonlyArray<Measured>> => {
    const { query, load, watched } = bench.server
    await seed(bench)
    const before = spent(watched)
    await sleep(idleMillis)
    const idle = difference(spent(watched), before)
    const [from, began] = [spent(watched), performance.now()]
    await query("DELETE FROM chores")
    for (;;) {
      const [row] = await query("SELECT count(*)::int AS done FROM chores WHERE name <> 'e-mails about trends'")
      if (row?.["done"] === 4) break
      await sleep(50)
    }
    const millis = difference(difference(spent(watched), from), share(idle, (performance.now() - began) / idleMillis))
    const found = await query(
      "SELECT (SELECT count(*)::int FROM tag_trends) AS tags, (SELECT count(*)::int FROM status_trends) AS statuses, (SELECT count(*)::int FROM card_trends) AS links"
    )
    const reading = async (name: string): Promise<Measured> => {
      const requests = readerNumbers.map((number) => ({
        method: "GET" as const,
        path: `/api/v1/trends/${name}`,
        token: token(number)
      }))
      await load({ connections, count: readsCount / 4, requests })
      const start = spent(watched)
      const { done, millis } = await load({ connections, count: readsCount, requests })
      return {
        name: `GET trends/${name}`,
        perSecond: done * 1_000 / millis,
        millis: share(difference(spent(watched), start), 1 / done)
      }
    }
    return [
      {
        name: trends.name,
        millis,
        figures: Object.fromEntries(Object.entries(found[0] ?? {}).map(([kind, count]) => [kind, Number(count)]))
      },
      await reading("tags"),
      await reading("statuses"),
      await reading("links")
    ]
  }
}
