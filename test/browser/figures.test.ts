import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import type { Page } from "playwright-core"
import { ask, publishedId, settled } from "../support/Api.ts"
import { countedServer, statementsOf } from "../support/CountedServer.ts"
import { TestServer } from "../support/Server.ts"
import { staffBrowser } from "../support/StaffBrowser.ts"
import { Browser, visit } from "./Browser.ts"
import { signIn } from "./Visits.ts"

/*
 * Performance figures of the web's pages. `FIGURES=1 npm test -- test/browser/figures.test.ts`, on an idle machine,
 * also loads 2,000 posts into one page, and prints a table.
 */

const isWhole = process.env["FIGURES"] !== undefined

/** Number of posts on the pages, and of posts that Local loads during the scroll up. */
const [postsOfPage, postsOfMemory] = [40, 2_000]
/** Number of copied posts that the memory of a post is measured with. */
const copiesOfMemory = 400
/** Number of requests for the median of the server's time. */
const requestsTimed = 25
/** Maximum duration of the test, in milliseconds. */
const testMillisMax = isWhole ? 3_600_000 : 900_000

/** Network and processor of an old phone: Lighthouse's "Slow 4G" as DevTools applies it, and a quarter of the speed. */
const slow4g = { offline: false, latency: 562.5, downloadThroughput: 184_320, uploadThroughput: 84_375 }
const slowdown = 4

interface Load {
  readonly scriptBytes: number
  readonly requests: number
  readonly largestPaintMillis: number
  readonly shift: number
  /** Elements that moved, each with its boxes before and after. */
  readonly shifted: string
}

/** Loads a page on a simulated old phone with an empty cache; returns its load figures. */
const loaded = async (page: Page, url: string): Promise<Load> => {
  const client = await page.context().newCDPSession(page)
  await client.send("Network.enable")
  await client.send("Network.clearBrowserCache")
  // A first visit has no service worker that keeps the scripts.
  await client.send("Network.setBypassServiceWorker", { bypass: true })
  await client.send("Network.emulateNetworkConditions", slow4g)
  await client.send("Emulation.setCPUThrottlingRate", { rate: slowdown })
  let [requests, scriptBytes] = [0, 0]
  const scripts = new Set<string>()
  client.on("Network.responseReceived", ({ requestId, type }) => {
    requests++
    if (type === "Script") scripts.add(requestId)
  })
  client.on("Network.loadingFinished", ({ encodedDataLength, requestId }) => {
    if (scripts.has(requestId)) scriptBytes += encodedDataLength
  })
  await page.goto(url, { waitUntil: "load" })
  const [largestPaintMillis, shift, shifted] = await page.evaluate<[number, number, string]>(`(async () => {
    const entries = (type) => new Promise((resolve) => {
      const seen = []
      const observer = new PerformanceObserver((list) => seen.push(...list.getEntries()))
      observer.observe({ type, buffered: true })
      requestAnimationFrame(() => requestAnimationFrame(() => {
        seen.push(...observer.takeRecords())
        resolve(seen)
      }))
    })
    const paints = await entries("largest-contentful-paint")
    const shifts = await entries("layout-shift")
    const shifted = shifts.flatMap(({ sources }) => sources).map(({ currentRect, node, previousRect }) => [
      (node?.outerHTML ?? node?.textContent ?? "").slice(0, 200), JSON.stringify([previousRect, currentRect])
    ].join(" "))
    return [paints.at(-1)?.startTime ?? 0, shifts.reduce((sum, { value }) => sum + value, 0), shifted.join("; ")]
  })()`)
  await client.send("Emulation.setCPUThrottlingRate", { rate: 1 })
  await client.detach()
  return { scriptBytes, requests, largestPaintMillis, shift, shifted }
}

/** Scrolls a timeline up from its oldest posts until as many are loaded; returns the memory of scripts and document in MB. */
const memoryAfter = async (page: Page, url: string, posts: number): Promise<ReadonlyArray<number>> => {
  await page.goto(url)
  await page.evaluate(`(async () => {
    scrollTo(0, document.documentElement.scrollHeight)
    for (let turn = 0; turn < 20_000 && document.querySelectorAll(".feed > article").length < ${posts}; turn++) {
      await new Promise((resolve) => requestAnimationFrame(resolve))
      // At the very start newer posts wait for a press, so the scroll ends just below it.
      scrollTo(0, scrollY > 900 ? scrollY - 400 : 500 + turn % 2)
    }
  })()`)
  assert.isAtLeast(await page.locator(".feed > article").count(), posts)
  const client = await page.context().newCDPSession(page)
  await client.send("HeapProfiler.collectGarbage")
  const { embedderHeapUsedSize, usedSize } = await client.send("Runtime.getHeapUsage")
  return [usedSize / 1_048_576, embedderHeapUsedSize / 1_048_576]
}

/** Returns the memory of a post that was on the screen, in kB: adds copies of the page's posts, and scrolls over them. */
const memoryOfPost = async (page: Page, copies: number): Promise<number> => {
  const client = await page.context().newCDPSession(page)
  const usedBytes = async () => {
    await client.send("HeapProfiler.collectGarbage")
    return (await client.send("Runtime.getHeapUsage")).embedderHeapUsedSize
  }
  const before = await usedBytes()
  await page.evaluate(`(async () => {
    const posts = [...document.querySelectorAll(".feed > article")]
    for (let count = 0; count < ${copies}; count++) {
      const copy = posts[count % posts.length].cloneNode(true)
      copy.removeAttribute("id")
      posts[0].parentElement.append(copy)
    }
    for (let top = 0; top < document.documentElement.scrollHeight; top += innerHeight) {
      scrollTo(0, top)
      await new Promise((resolve) => requestAnimationFrame(resolve))
    }
  })()`)
  return (await usedBytes() - before) / copies / 1_024
}

const row = (name: string, cells: ReadonlyArray<number | string>) =>
  `| ${name} | ${cells.map((cell) => typeof cell === "string" ? cell : Number(cell.toPrecision(3))).join(" | ")} |`

layer(Layer.merge(countedServer, Browser.layer), { excludeTestServices: true })(
  "figures of the web",
  (it) => {
    it.effect(
      "Home and a public post appear soon on an old phone, without layout shifts, within the budgets",
      () =>
        Effect.gen(function*() {
          const { baseUrl, createPerson } = yield* TestServer
          const [ada, bob] = [yield* createPerson("ada"), yield* createPerson("bob")]
          yield* ask(ada, "POST", `/api/v1/accounts/${bob.accountId}/follow`)
          const count = isWhole ? postsOfMemory + 20 : postsOfPage
          const ids = yield* Effect.forEach(
            Array.from({ length: count }),
            (_, at) => publishedId(bob, `Post ${at} #words: ${"of some length ".repeat(3 + at % 12)}`),
            { concurrency: 2 }
          )
          yield* settled
          const oldest = ids.map(BigInt).reduce((one, other) => one < other ? one : other)
          const [member, visitor] = [yield* staffBrowser(ada), yield* staffBrowser()]
          const [phone, other] = [yield* visit("phone"), yield* visit("phone")]
          yield* Effect.promise(async () => {
            await phone.page.goto(`${baseUrl}/home`)
            await signIn(phone.page, ada)
          })
          const rows: Array<string> = []
          for (
            const [name, path, browser, page] of [
              ["Public post", `/@bob/${oldest}`, visitor, other.page],
              ["Profile", "/@bob", visitor, other.page],
              ["Home of 20", "/home", member, phone.page]
            ] as const
          ) {
            const get = browser.request(path, { headers: { "accept-encoding": "br" } })
            const queries = yield* statementsOf(get)
            const millis: Array<number> = []
            let bytes = 0
            for (let at = 0; at < requestsTimed; at++) {
              const began = performance.now()
              const { headers, status } = yield* get
              millis.push(performance.now() - began)
              assert.strictEqual(status, 200, path)
              bytes = Number(headers.get("content-length"))
            }
            const median = millis.toSorted((a, b) => a - b)[Math.floor(requestsTimed / 2)] ?? 0
            const load = yield* Effect.promise(() => loaded(page, baseUrl + path))
            assert.isBelow(load.scriptBytes, 60_000, `${name}: bytes of scripts`)
            assert.isBelow(load.shift, 0.01, `${name}: layout shift of ${load.shifted}`)
            assert.isAbove(load.largestPaintMillis, 0, name)
            assert.isBelow(load.requests, 40, `${name}: requests`)
            rows.push(
              row(name, [
                bytes / 1_000,
                queries,
                median,
                load.scriptBytes / 1_000,
                load.requests,
                load.largestPaintMillis / 1_000,
                load.shift
              ])
            )
          }
          // With icons of five nodes each it was 138 kB.
          assert.isBelow(yield* Effect.promise(() => memoryOfPost(phone.page, copiesOfMemory)), 90, "kB a post")
          if (!isWhole) return
          const heads = [
            "| page | HTML, kB | queries | server, ms | scripts, kB | requests | largest paint, s | layout shift |",
            "|---|---|---|---|---|---|---|---|"
          ]
          process.stdout.write(`${[...heads, ...rows].join("\n")}\n`)
          // Home keeps fewer posts than that.
          const memory = yield* Effect.promise(() =>
            memoryAfter(phone.page, `${baseUrl}/public/local?min_id=${oldest - 1n}`, postsOfMemory)
          )
          const [scripts, document] = memory.map((megabytes) => megabytes.toFixed(1))
          process.stdout.write(
            `Memory of Local with ${postsOfMemory} posts: scripts ${scripts} MB, document ${document} MB\n`
          )
        }),
      testMillisMax
    )
  }
)
