import { createECDH, randomBytes } from "node:crypto"
import { fileURLToPath } from "node:url"
import * as Child from "../Child.ts"
import { between, type Spent, spent, total } from "../Cpu.ts"
import type * as Web from "../load/Web.ts"
import { firstReaderNumber, readersCount, token } from "../People.ts"
import { type Bench, type Measured, median, type Row, sleep } from "../Row.ts"

/** Pages that one run fetches, each at its own address, and pushes per subscription. */
const pagesEach = { quick: 100, long: 300 }
const pushesEach = { quick: 20, long: 100 }

const address = (base: number, host: number) => `127.${base}.${host >> 8}.${host & 255}`

let web: Promise<{ readonly child: Child.Child<Web.Order>; readonly port: number }> | undefined
const webOf = () =>
  web ??= (async () => {
    const child = Child.start<Web.Order>([fileURLToPath(new URL("../load/Web.ts", import.meta.url))])
    return { child, port: Number(await child.ask({ kind: "port" })) }
  })()

/** Measures the cost of a number of operations, from `begin` until `isOver`. */
const measured = async (
  { server }: Bench,
  count: number,
  begin: () => Promise<unknown>,
  isOver: () => Promise<boolean>
) => {
  const [before, began] = [spent(server.watched), performance.now()]
  await begin()
  while (!(await isOver())) await sleep(20)
  return { millis: performance.now() - began, cpu: between(before, spent(server.watched), count) }
}

const summary = (
  name: string,
  count: number,
  runs: ReadonlyArray<{ readonly millis: number; readonly cpu: Spent }>
): ReadonlyArray<Measured> => {
  const middle = median(runs.map(({ cpu }) => total(cpu)))
  const { cpu, millis } = runs.find((run) => total(run.cpu) === middle)!
  return [{
    name,
    perSecond: count * 1_000 / millis,
    millis: cpu,
    figures: { "per CPU second": 1_000 / total(cpu) }
  }]
}

let fetched = 0
const cards: Row = {
  name: "preview cards",
  measure: async (bench) => {
    const { port } = await webOf()
    const { query } = bench.server
    const count = bench.options.quick ? pagesEach.quick : pagesEach.long
    const once = () =>
      measured(bench, count, () => {
        const at = new Date().toISOString()
        const rows = Array.from({ length: count }, () => {
          const host = address(11, ++fetched)
          return `(${fetched}, '${fetched}', 'http://${host}:${port}/${fetched}', '${host}', '${at}', '${at}')`
        })
        return query(`INSERT INTO preview_cards (id, url_key, url, site, due_at, created_at) VALUES ${rows.join()}`)
      }, async () => {
        // Ignores links of other rows' posts: they have no server, and are retried for long.
        const [row] = await query(
          `SELECT EXISTS (SELECT FROM preview_cards WHERE id <= ${fetched} AND image_name IS NULL) AS waiting`
        )
        return row?.["waiting"] !== true
      })
    await once()
    const runs = []
    for (let run = 0; run < bench.options.runs; run++) runs.push(await once())
    return summary(`${cards.name} of pages of 60 kB with a picture`, count, runs)
  }
}

/** Gives each reader a push subscription at its own push service. */
const subscribe = async ({ server }: Bench, port: number) => {
  const path = `http://127.0.0.1:${server.port}/api/v1/push/subscription`
  for (let reader = 0; reader < readersCount; reader++) {
    const endpoint = `http://${address(12, reader)}:${port}/${reader}`
    const pair = createECDH("prime256v1")
    const keys = { p256dh: pair.generateKeys("base64url"), auth: randomBytes(16).toString("base64url") }
    const reply = await fetch(path, {
      method: "POST",
      headers: { authorization: `Bearer ${token(firstReaderNumber + reader)}`, "content-type": "application/json" },
      body: JSON.stringify({ subscription: { endpoint, keys, standard: true } })
    })
    if (reply.status !== 200) {
      throw new Error(`The response to a subscription is ${reply.status}: ${await reply.text()}`)
    }
  }
}

const pushes: Row = {
  name: "pushes",
  measure: async (bench) => {
    const { child, port } = await webOf()
    const { query } = bench.server
    const each = bench.options.quick ? pushesEach.quick : pushesEach.long
    const count = each * readersCount
    await subscribe(bench, port)
    const from = bench.people.accountId(1)
    let postCount = 0
    const once = async () => {
      const before = Number(await child.ask({ kind: "taken" }))
      return measured(bench, count, () => {
        const at = new Date().toISOString()
        postCount += count
        return query(`WITH told AS (
            INSERT INTO notifications (id, account_id, type, from_account_id, status_id, created_at)
            SELECT next_id(${Date.now()}), s.account_id, 'follow', ${from}, ${postCount} + n, '${at}'
            FROM push_subscriptions s, generate_series(1, ${each}) n RETURNING id, account_id)
          INSERT INTO pushes (subscription_id, notification_id, due_at, created_at)
          SELECT s.id, told.id, '${at}', '${at}' FROM told JOIN push_subscriptions s ON s.account_id = told.account_id`)
      }, async () => Number(await child.ask({ kind: "taken" })) >= before + count)
    }
    await once()
    const runs = []
    for (let run = 0; run < bench.options.runs; run++) runs.push(await once())
    return summary(`${pushes.name} to ${readersCount} subscriptions`, count, runs)
  }
}

export const rows: ReadonlyArray<Row> = [cards, pushes]

/** Ends the processes that the rows started. */
export const end = () => {
  void web?.then(({ child }) => child.process.kill("SIGKILL"))
}
