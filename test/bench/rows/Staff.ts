import { between, spent } from "../Cpu.ts"
import { firstReaderNumber, token } from "../People.ts"
import { type Bench, type Measured, percentile, type Row } from "../Row.ts"

const postsOf = (quick: boolean) => quick ? 20_000 : 1_000_000
const remoteCount = 20_000
const domainsCount = 500
const reportsCount = 10_000
const tagsCount = 50_000
const timesEach = 40
/** Maximum times for a list, and for counts over a million posts, which are cached for minutes; in milliseconds. */
const [listMillis, countsMillis] = [100, 500]
const staff = firstReaderNumber + 1
const day = 86_400_000
/** Session cookie of a staff member's browser. */
const session = "session-of-staff-for-the-bench"

/** Adds servers with accounts, a year of posts by all accounts, and reports, a third of them open. */
const seed = async ({ options, people, server: { query } }: Bench) => {
  const now = Date.now()
  const [remote, posts, reports] = [now - 3 * day, now - 365 * day, now - 300 * day].map((at) =>
    String(BigInt(at) << 16n)
  )
  const at = new Date(now - 3 * day).toISOString()
  const count = postsOf(options.quick)
  const base = people.accountId(0)
  await query("SET session_replication_role = replica")
  await query(`INSERT INTO accounts (id, username, domain, uri, created_at, updated_at)
    SELECT ${remote} + n, 'remote' || n, 'server' || n % ${domainsCount} || '.test', 'https://server' || n % ${domainsCount} || '.test/' || n,
      '${at}', '${at}' FROM generate_series(1, ${remoteCount}) n`)
  await query(`INSERT INTO account_stats (account_id) SELECT ${remote} + n FROM generate_series(1, ${remoteCount}) n`)
  const id = `${posts} + ((n * ${365 * day / count}::float8)::bigint << 16)`
  await query(`INSERT INTO statuses (id, account_id, text, html, visibility, language, conversation_id, created_at)
    SELECT ${id}, ${base} + 1 + n * 7919 % ${people.accounts}, 'A post', '<p>A post</p>', 'public', 'en', 0,
      to_timestamp((${id} >> 16) / 1000.0) FROM generate_series(1, ${count}::bigint) n ON CONFLICT DO NOTHING`)
  await query(
    `INSERT INTO reports (id, account_id, target_account_id, category, comment, status_ids, rule_ids, forward_domains,
      created_at, action_taken_at)
    SELECT ${reports} + ((n * ${300 * day / reportsCount}::bigint) << 16), ${base} + 1 + n * 31 % ${people.accounts},
      CASE n % 2 WHEN 0 THEN ${remote} + 1 + n % ${remoteCount} ELSE ${base} + 1 + n * 17 % ${people.accounts} END,
      'spam', 'A comment', '{}', '{}', '{}', '${at}', CASE n % 3 WHEN 0 THEN NULL ELSE '${at}'::timestamptz END
    FROM generate_series(1, ${reportsCount}) n`
  )
  await query(`INSERT INTO tags (id, name, display_name, created_at)
    SELECT n, 'tag' || n, 'Tag' || n, '${at}' FROM generate_series(1, ${tagsCount}) n`)
  await query("SET session_replication_role = origin")
  await query(`UPDATE users SET role_id = (SELECT id FROM roles ORDER BY position DESC LIMIT 1)
    WHERE account_id = ${people.accountId(staff)}`)
  await query(`INSERT INTO sessions (id_hash, account_id, created_at, seen_at)
    VALUES (sha256(convert_to('${session}', 'UTF8')), ${people.accountId(staff)}, now(), now())`)
  await query(`UPDATE oauth_tokens SET scopes = scopes || ' admin:read' WHERE account_id = ${people.accountId(staff)}`)
  await query("VACUUM ANALYZE")
  return { posts: count }
}

const dates = (n: number) => ({
  start_at: new Date(Date.now() - (30 + n) * day).toISOString(),
  end_at: new Date(Date.now() - n * day).toISOString()
})
const measureKeys = ["active_users", "new_users", "interactions", "opened_reports", "resolved_reports"]

/**
 * Requests of staff: a path and, for a POST, its body. Each period is requested once, because counts are cached for
 * minutes.
 */
const requests: Readonly<Record<string, (bench: Bench, n: number) => readonly [string, object?]>> = {
  "accounts, first page": () => ["/api/v2/admin/accounts?limit=40"],
  "accounts, later page": (
    { people },
    n
  ) => [`/api/v2/admin/accounts?limit=40&max_id=${people.accountId(40 + n * 20)}`],
  "accounts, local": () => ["/api/v2/admin/accounts?limit=40&origin=local"],
  "accounts, remote": () => ["/api/v2/admin/accounts?limit=40&origin=remote"],
  "accounts of a server": (_, n) => [`/api/v2/admin/accounts?limit=40&by_domain=server${n}.test`],
  "accounts by name": (_, n) => [`/api/v2/admin/accounts?limit=40&username=person${n * 23}`],
  "accounts by e-mail address": (_, n) => [`/api/v2/admin/accounts?limit=40&email=person${n * 23}@example.org`],
  "accounts, suspended": () => ["/api/v2/admin/accounts?limit=40&status=suspended"],
  "accounts, pending": () => ["/api/v1/admin/accounts?limit=40&pending=true"],
  "reports, open": () => ["/api/v1/admin/reports?limit=40"],
  "reports, resolved": () => ["/api/v1/admin/reports?limit=40&resolved=true"],
  "reports about a server": (_, n) => [`/api/v1/admin/reports?limit=40&by_target_domain=server${n}.test`],
  "page of accounts": () => ["/admin/accounts"],
  "page of accounts, later page": ({ people }, n) => [`/admin/accounts?max_id=${people.accountId(40 + n * 20)}`],
  "page of accounts by name": (_, n) => [`/admin/accounts?username=person${n * 23}`],
  "page of an account": ({ people }, n) => [`/admin/accounts/${people.accountId(n + 1)}`],
  "page of reports": () => ["/admin/reports"],
  "page of reports about a server": (_, n) => [`/admin/reports?by_target_domain=server${n}.test`],
  "page of accounts of a server": (_, n) => [`/admin/accounts?domain=server${n}.test`],
  "page of accounts, suspended": () => ["/admin/accounts?status=suspended"],
  "page of hashtags": () => ["/admin/tags"],
  "page of hashtags by name": (_, n) => [`/admin/tags?name=tag${n}`],
  "page of the dashboard": () => ["/admin"],
  "measures of 30 days": (_, n) => ["/api/v1/admin/measures", { keys: measureKeys, ...dates(n) }],
  "measures of a server": (_, n) => ["/api/v1/admin/measures", {
    keys: ["instance_accounts", "instance_statuses", "instance_follows", "instance_reports"],
    ...Object.fromEntries(["accounts", "statuses", "follows", "reports"].map((what) => [
      `instance_${what}`,
      { domain: `server${n}.test` }
    ])),
    ...dates(n)
  }],
  "dimensions of 30 days": (_, n) => ["/api/v1/admin/dimensions", {
    keys: ["languages", "sources", "servers", "space_usage"],
    ...dates(n)
  }],
  "retention by month": (
    _,
    n
  ) => ["/api/v1/admin/retention", { frequency: "month", ...dates(n), start_at: dates(150 + n).start_at }]
}

const measure = async (bench: Bench): Promise<ReadonlyArray<Measured>> => {
  const { people, server } = bench
  const { posts } = await seed(bench)
  const ask = async (name: string, n: number) => {
    const [path, body] = requests[name]?.(bench, n) ?? [""]
    const asked = performance.now()
    const reply = await fetch(`http://127.0.0.1:${server.port}${path}`, {
      method: body === undefined ? "GET" : "POST",
      headers: path.startsWith("/api")
        ? { authorization: `Bearer ${token(staff)}`, "content-type": "application/json" }
        : { cookie: `session=${session}` },
      redirect: "manual",
      ...(body !== undefined && { body: JSON.stringify(body) })
    })
    const text = await reply.text()
    if (reply.status !== 200) throw new Error(`${path}: ${reply.status} ${text.slice(0, 200)}`)
    return performance.now() - asked
  }
  const measured: Array<Measured> = []
  for (const name of Object.keys(requests)) {
    for (let n = 0; n < 3; n++) await ask(name, 200 + n)
    const before = spent(server.watched)
    const took: Array<number> = []
    for (let n = 0; n < timesEach; n++) took.push(await ask(name, n))
    const p95 = percentile(took, 0.95)
    const target = /^(?:accounts|reports|page)/.test(name) ? listMillis : countsMillis
    measured.push({
      name: `staff: ${name}`,
      millis: between(before, spent(server.watched), timesEach),
      figures: { "ms (median)": percentile(took, 0.5), "ms (95 of 100)": p95, "ms (longest)": Math.max(...took) },
      target: { text: `${target} ms (95 of 100)`, met: p95 < target }
    })
  }
  const figures = { accounts: people.accounts + remoteCount, posts, reports: reportsCount, hashtags: tagsCount }
  return [{ name: row.name, figures }, ...measured]
}

/** Lists, pages and measures of staff, requested one after another. */
export const row: Row = { name: "staff's lists, pages and measures", measure }
