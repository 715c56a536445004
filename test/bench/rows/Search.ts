import { between, spent } from "../Cpu.ts"
import type { Options } from "../Options.ts"
import { token } from "../People.ts"
import { type Bench, type Measured, percentile, type Row } from "../Row.ts"
import { seedPosts, type Wording } from "../SearchPosts.ts"

/** Number of posts in the index, and number of measured searches. */
const postsOf = ({ quick }: Options) => quick ? 20_000 : 1_000_000
const searches = 600
const target = 100
const name = "search of posts"

/** Queries by kind; language and number change each time. */
const kinds: Readonly<Record<string, (wording: Wording, language: number, n: number, posts: number) => string>> = {
  "the most common word": ({ word }, language) => word(language, 0),
  "a common word": ({ word }, language, n) => word(language, 0.3 + (n % 7) / 20),
  "a rare word": ({ word }, language, n) => word(language, 0.9 + (n % 10) / 100),
  "a word that occurs once": (_, __, n, posts) => `post${1 + n * 7_919 % posts}`,
  "a word without posts": (_, __, n) => `nowhere${n}`,
  "two words": ({ word }, language, n) => `${word(language, 0.4)} ${word(language, 0.5 + (n % 9) / 20)}`,
  "a phrase": ({ phrase }, language, n) => `"${phrase(language, n * 31)}"`,
  "by an author": ({ word }, language, n) => `${word(language, 0.3)} from:person${1 + n * 13 % 5_000}`,
  "in a language, without a word": ({ languages, word }, language, n) =>
    `${word(language, 0.2)} language:${languages[language]} -${word(language, 0.3 + (n % 5) / 20)}`,
  "before a date": ({ word }, language, n) =>
    `${word(language, 0.4)} before:${new Date(Date.now() - (30 + n % 300) * 86_400_000).toISOString().slice(0, 10)}`,
  "in the library": ({ word }, language, n) => `${word(language, 0.2 + (n % 12) / 20)} in:library`,
  "in two languages": ({ word }, language) => `${word(language, 0.1)} ${word((language + 1) % 5, 0.1)}`
}

const measure = async (bench: Bench): Promise<ReadonlyArray<Measured>> => {
  const { options, people, server } = bench
  const posts = postsOf(options)
  const began = performance.now()
  const wording = await seedPosts(server.query, people, posts)
  const seconds = (performance.now() - began) / 1000
  const names = Object.keys(kinds)
  const took = new Map<string, Array<number>>(names.map((kind) => [kind, []]))
  let found = 0
  const search = async (n: number) => {
    const kind = names[n % names.length] ?? ""
    const q = kinds[kind]?.(wording, Math.floor(n / names.length) % wording.languages.length, n, posts) ?? ""
    const asked = performance.now()
    const reply = await fetch(
      `http://127.0.0.1:${server.port}/api/v2/search?${new URLSearchParams({ q, type: "statuses" })}`,
      {
        headers: { authorization: `Bearer ${token(101 + n % 2)}` }
      }
    )
    const { statuses } = await reply.json() as { readonly statuses: ReadonlyArray<unknown> }
    if (reply.status !== 200) throw new Error(`A search was refused: ${q}`)
    if (statuses.length > 0) found++
    return { kind, millis: performance.now() - asked }
  }
  for (let n = 0; n < names.length * 10; n++) await search(n)
  found = 0
  const before = spent(server.watched)
  for (let n = 0; n < searches; n++) {
    const { kind, millis } = await search(n)
    took.get(kind)?.push(millis)
  }
  const millis = between(before, spent(server.watched), searches)
  const [sizes] = await server.query(`SELECT pg_relation_size('search_documents_tokens')::float8 / 1048576 AS index,
    pg_total_relation_size('search_documents')::float8 / 1048576 AS whole, pg_total_relation_size('statuses')::float8 / 1048576 AS posts`)
  const all = [...took.values()].flat()
  const p95 = percentile(all, 0.95)
  return [{
    name,
    millis,
    figures: {
      "posts in five scripts": posts,
      "ms (median)": percentile(all, 0.5),
      "ms (95 of 100)": p95,
      "ms (longest)": Math.max(...all),
      ...Object.fromEntries(names.map((kind) => [`ms, ${kind} (95 of 100)`, percentile(took.get(kind) ?? [], 0.95)])),
      "% with results": 100 * found / searches,
      "index, MB": Number(sizes?.["index"]),
      "index and its table, MB": Number(sizes?.["whole"]),
      "posts, MB": Number(sizes?.["posts"]),
      "seconds to create them": seconds
    },
    target: { text: `${target} ms (95 of 100)`, met: p95 < target }
  }]
}

/** Sequential searches of posts. */
export const search: Row = { name, measure }
