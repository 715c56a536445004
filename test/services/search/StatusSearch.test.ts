import { assert, layer } from "@effect/vitest"
import { Clock, Effect, Layer, Random } from "effect"
import { SqlClient } from "effect/sql"

import { type AccountId, idAt } from "../../../src/services/Ids.ts"
import { ServerConfig } from "../../../src/services/instance/ServerConfig.ts"
import type { Page } from "../../../src/services/Paging.ts"
import { StatusIndex } from "../../../src/services/search/StatusIndex.ts"
import { StatusSearch } from "../../../src/services/search/StatusSearch.ts"
import { person } from "../../support/People.ts"
import { status } from "../../support/Posts.ts"
import { configuration } from "../../support/Reads.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"

const layerSearch = Layer.merge(StatusSearch.layer, StatusIndex.layer).pipe(
  Layer.provideMerge(TestDatabase.layer),
  Layer.provide(Layer.succeed(ServerConfig, configuration))
)

/** Lets the index catch up. */
const indexed = Effect.gen(function*() {
  const { step } = yield* StatusIndex
  yield* Effect.repeat(step, { until: (more) => !more })
})

const find = Effect.fnUntraced(function*(
  viewer: AccountId,
  text: string,
  more: Partial<Page> & { readonly accountId?: bigint; readonly offset?: number } = {}
) {
  yield* indexed
  const { accountId, offset = 0, ...page } = more
  return yield* (yield* StatusSearch).find(viewer, { text, accountId, offset }, { limit: 20, ...page })
})

/** Somebody whose public posts everybody may find. */
const indexable = Effect.fnUntraced(function*(username: string, domain: string | null = null) {
  const sql = yield* SqlClient.SqlClient
  const id = yield* person(username)
  if (domain !== null) yield* sql`DELETE FROM users WHERE account_id = ${id}`
  yield* sql`UPDATE accounts SET indexable = true, domain = ${domain} WHERE id = ${id}`
  return id
})

const written = Effect.fnUntraced(function*(author: AccountId, text: string, language: string | null, more: {
  readonly millis?: number
} = {}) {
  const sql = yield* SqlClient.SqlClient
  const now = more.millis ?? (yield* Clock.currentTimeMillis)
  const [row] = yield* sql<{ id: bigint }>`
    INSERT INTO statuses (id, account_id, text, html, visibility, language, conversation_id, created_at)
    VALUES (next_id(${now}), ${author}, ${text}, ${`<p>${text}</p>`}, 'public', ${language}, 1, ${new Date(
    now
  )}) RETURNING id`
  yield* sql`INSERT INTO status_stats (status_id) VALUES (${row!.id})`
  return row!.id
})

layer(layerSearch, { excludeTestServices: true })("search of posts", (it) => {
  it.effect("S-150: words in the forms of their language, without accents, by part where no spaces are", () =>
    Effect.gen(function*() {
      const author = yield* indexable("writer")
      const reader = yield* person("reader")
      const cases: ReadonlyArray<readonly [string | null, string, ReadonlyArray<string>, ReadonlyArray<string>]> = [
        ["en", "The cats were running quickly", ["cat", "runs", "CATS", "the cat running", "\"were running\""], [
          "dog",
          "\"running cats\"",
          "cat -quickly",
          "\"cat\""
        ]],
        ["de", "Viele Häuser am Fluß", ["Haus", "hauser", "Fluss", "die Häuser"], ["Maus"]],
        ["fr", "Les étudiantes ont mangé à Orléans", ["étudiante", "etudiant", "manger", "orleans"], ["mangue"]],
        ["es", "Las canciones del verano", ["canción", "cancion veranos"], ["cancillería"]],
        ["ru", "Новые книги о Москве, ещё", ["книга", "москва", "еще"], ["кошка"]],
        ["el", "Τα βιβλία της Αθήνας", ["βιβλίο", "αθηνα"], ["θάλασσα"]],
        ["ar", "الكُتُب الجديدة في المكتبة", ["الكتب", "مكتبة"], ["قلم"]],
        ["pl", "Przeczytałem dobre książki", ["książka", "ksiazki", "przeczytałem"], ["kot"]],
        [null, "Untagged wondering words", ["wonder", "wondering"], ["ondering"]],
        ["ja", "東京都の図書館で本を読んだ", ["東京", "京都", "図書館", "本", "館", "図書館 本"], [
          "大阪",
          "京図",
          "都書"
        ]],
        ["zh", "今天天气很好，我们去公园", ["天气", "公园", "天天", "园"], ["明天", "公天"]],
        ["th", "สวัสดีชาวโลก", ["โลก", "ชาว", "สวัสดี"], ["แมว"]],
        ["ko", "도서관에서 책을 읽었다", ["도서관", "책", "\"책을 읽었다\""], ["학교"]],
        ["hi", "किताबें पढ़ना अच्छा है", ["किताबें", "पढ़ना"], ["घर"]],
        ["en", "mixed iPhone用ケース 🐦 party", ["iphone ケース", "🐦", "\"iphone 用ケース\""], ["🐱"]]
      ]
      for (const [language, text, found, missed] of cases) {
        const id = yield* written(author, text, language)
        for (const query of found) assert.include(yield* find(reader, query), id, `${query} in ${text}`)
        for (const query of missed) assert.notInclude(yield* find(reader, query), id, `${query} in ${text}`)
      }
      // A stem of one language is not looked for in another.
      const new_ = yield* written(author, "a new newspaper", "en")
      assert.notInclude(yield* find(reader, "news"), new_)
    }))

  it.effect("S-150: posts of people who are indexable, and always what one wrote, is named in, favourited, bookmarked, boosted or voted in", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [open, shy, reader] = [yield* indexable("open"), yield* person("shy"), yield* person("keeper")]
      const found = yield* status(open, "walnut for all")
      yield* status(open, "walnut unlisted", { visibility: "unlisted" })
      yield* status(open, "walnut private", { visibility: "private" })
      const [hers, favourited, bookmarked, boosted, voted, named] = [
        yield* status(shy, "walnut of mine"),
        yield* status(shy, "walnut, a favourite"),
        yield* status(shy, "walnut, unlisted", { visibility: "unlisted" }),
        yield* status(shy, "walnut to boost"),
        yield* status(shy, "walnut?"),
        yield* status(shy, "walnut for you", { visibility: "direct" })
      ]
      const own = yield* status(reader, "walnut of my own", { visibility: "private" })
      assert.deepStrictEqual(yield* find(reader, "walnut"), [own, found])
      assert.deepStrictEqual(yield* find(shy, "walnut"), [named, voted, boosted, bookmarked, favourited, hers, found])
      yield* sql`INSERT INTO favourites (id, account_id, status_id) VALUES (1, ${reader}, ${favourited})`
      yield* sql`INSERT INTO bookmarks (id, account_id, status_id) VALUES (1, ${reader}, ${bookmarked})`
      yield* status(reader, "", { reblogOf: boosted })
      yield* sql`INSERT INTO polls (status_id, options, counts, multiple, hide_totals) VALUES (${voted}, '{walnut,pecan}', '{0,0}', false, false)`
      yield* sql`INSERT INTO poll_votes (status_id, account_id, choice) VALUES (${voted}, ${reader}, 0)`
      yield* sql`INSERT INTO mentions (status_id, account_id) VALUES (${named}, ${reader})`
      yield* sql`INSERT INTO search_queue (status_id) VALUES (${named})`
      const library = [own, named, voted, boosted, bookmarked, favourited]
      assert.deepStrictEqual(yield* find(reader, "walnut"), [...library, found])
      assert.deepStrictEqual(yield* find(reader, "walnut in:library"), library)
      assert.deepStrictEqual(yield* find(reader, "walnut in:public"), [found])
      assert.deepStrictEqual(yield* find(reader, "walnut in:all -in:library"), [found])
      assert.deepStrictEqual(yield* find(reader, "walnut in:public in:library"), [])
      // Whoever does not want to be found any more is not, at once.
      yield* sql`UPDATE accounts SET indexable = false WHERE id = ${open}`
      assert.deepStrictEqual(
        yield* (yield* StatusSearch).find(reader, { text: "walnut in:public", accountId: undefined, offset: 0 }, {
          limit: 20
        }),
        []
      )
      yield* sql`UPDATE accounts SET indexable = true WHERE id = ${shy}`
      assert.deepStrictEqual(yield* find(reader, "walnut in:public"), [voted, boosted, favourited, hers])
    }))

  it.effect("S-150: from, has, is, language, before, after, during, hashtags, account_id, cursors and offset", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [nell, otto, reader] = [
        yield* indexable("nell"),
        yield* indexable("otto", "far.example"),
        yield* person("seeker")
      ]
      const day = (text: string) => Date.parse(`2025-03-${text}Z`)
      const first = yield* written(nell, "quince one", "en", { millis: day("01T12:00:00") })
      const second = yield* written(otto, "quince two", "de", { millis: day("02T23:30:00") })
      const third = yield* written(nell, "quince three #Obst", "en", { millis: day("03T12:00:00") })
      yield* sql`INSERT INTO tags (id, name, display_name, created_at) VALUES (77, 'obst', 'Obst', '2026-01-01')`
      yield* sql`INSERT INTO statuses_tags (tag_id, status_id) VALUES (77, ${third})`
      yield* sql`INSERT INTO media_attachments (id, account_id, status_id, type, state, description, created_at, touched_at)
        VALUES (1, ${nell}, ${first}, 'image', 'ready', 'A bowl of fruit', '2026-01-01', '2026-01-01')`
      yield* sql`UPDATE statuses SET media_ids = '{1}', in_reply_to_id = ${second}, edited_at = '2026-01-01' WHERE id = ${first}`
      yield* sql`UPDATE statuses SET sensitive = true, edited_at = '2026-01-01', html = html || '<p><a href="https://quince.example">x</a></p>' WHERE id = ${second}`
      yield* sql`INSERT INTO polls (status_id, options, counts, multiple, hide_totals) VALUES (${third}, '{medlar,pear}', '{0,0}', false, false)`
      const all = [third, second, first]
      const cases: ReadonlyArray<readonly [string, ReadonlyArray<bigint>]> = [
        ["quince", all],
        ["quince from:nell", [third, first]],
        ["quince from:@otto@far.example", [second]],
        ["quince from:otto", []],
        ["quince -from:nell", [second]],
        ["quince from:nobody", []],
        ["quince -from:nobody", all],
        ["quince from:me", []],
        ["quince has:image", [first]],
        ["quince has:media -is:reply", []],
        ["bowl", [first]],
        ["quince is:reply", [first]],
        ["quince is:sensitive", [second]],
        ["quince has:link", [second]],
        ["quince has:embed", []],
        ["quince has:poll", [third]],
        ["medlar", [third]],
        ["quince language:de", [second]],
        ["quince -language:de", [third, first]],
        ["quince before:2025-03-02", [first]],
        ["quince after:2025-03-02", [third]],
        ["quince during:2025-03-02", [second]],
        ["quince during:2025-03", all],
        ["quince during:2025", all],
        ["quince -during:2025-03-02", [third, first]],
        ["quince -before:2025-03-02", [third, second]],
        ["quince -after:2025-03-02", [second, first]],
        [`quince after:${day("02T23:29:59")}`, [third, second]],
        ["quince before:9999-12-31 after:1970-01-01", all],
        ["#obst", [third]],
        ["quince -#OBST", [second, first]],
        ["quince -two -three", [first]],
        ["quince -\"quince one\"", [third, second]]
      ]
      for (const [query, expected] of cases) assert.deepStrictEqual(yield* find(reader, query), expected, query)
      assert.deepStrictEqual(yield* find(reader, "quince", { accountId: otto }), [second])
      assert.deepStrictEqual(yield* find(reader, "quince", { maxId: third }), [second, first])
      assert.deepStrictEqual(yield* find(reader, "quince", { minId: first, limit: 1 }), [second])
      assert.deepStrictEqual(yield* find(reader, "quince", { minId: first, maxId: third }), [second])
      assert.deepStrictEqual(yield* find(reader, "quince", { offset: 1, limit: 1 }), [second])
      assert.deepStrictEqual(yield* find(reader, "quince", { offset: 3 }), [])
      // A day is one of where somebody lives.
      yield* sql`UPDATE users SET time_zone = 'Asia/Tokyo' WHERE account_id = ${reader}`
      assert.deepStrictEqual(yield* find(reader, "quince during:2025-03-03"), [third, second])
    }))

  it.effect("row 62, row 57: leaves out whom one hides and who hides from one, what one may not see, the suspended and strangers who are limited", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const reader = yield* person("careful")
      const now = new Date(yield* Clock.currentTimeMillis)
      const by: Record<string, bigint> = {}
      const authors: Record<string, AccountId> = {}
      for (const kind of ["plain", "blocked", "muted", "blocking", "suspended", "limited", "followed"]) {
        const author = authors[kind] = yield* indexable(`med_${kind}`)
        by[kind] = yield* status(author, "medlars again")
        yield* sql`INSERT INTO favourites (id, account_id, status_id) VALUES (next_id(1), ${reader}, ${by[kind]!})`
      }
      const all = Object.values(by).toReversed()
      assert.deepStrictEqual(yield* find(reader, "medlars"), all)
      yield* sql`INSERT INTO blocks (id, account_id, target_account_id) VALUES (5, ${reader}, ${authors
        .blocked!}), (6, ${authors.blocking!}, ${reader})`
      yield* sql`INSERT INTO mutes (id, account_id, target_account_id) VALUES (5, ${reader}, ${authors.muted!})`
      yield* sql`UPDATE accounts SET suspended_at = ${now} WHERE id = ${authors.suspended!}`
      yield* sql`UPDATE accounts SET silenced_at = ${now} WHERE id IN (${authors.limited!}, ${authors.followed!})`
      yield* sql`INSERT INTO follows (id, account_id, target_account_id, created_at) VALUES (5, ${reader}, ${authors
        .followed!}, ${now})`
      assert.deepStrictEqual(yield* find(reader, "medlars"), [by.followed!, by.plain!])
      assert.deepStrictEqual(
        yield* find(authors.limited!, "medlars"),
        [by.followed, by.limited, by.blocking, by.muted, by.blocked, by.plain].filter((id) => id !== by.followed)
          .flatMap((id) => id ?? [])
      )
    }))

  it.effect("I10: follows edits; what is deleted leaves nothing, although it is being indexed", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const author = yield* person("editor")
      const id = yield* status(author, "a persimmon")
      assert.deepStrictEqual(yield* find(author, "persimmon"), [id])
      yield* sql`UPDATE statuses SET html = '<p>a fig</p>', edited_at = '2026-01-01' WHERE id = ${id}`
      assert.deepStrictEqual(yield* find(author, "persimmon"), [])
      assert.deepStrictEqual(yield* find(author, "fig"), [id])
      const rows =
        sql`SELECT FROM search_documents WHERE status_id = ${id} UNION ALL SELECT FROM search_queue WHERE status_id = ${id}`
      yield* sql`INSERT INTO search_queue (status_id) VALUES (${id})`
      const { step } = yield* StatusIndex
      yield* Effect.all([
        Effect.repeat(step, { times: 20 }),
        sql`UPDATE statuses SET deleted_at = '2026-01-01' WHERE id = ${id}`
      ], { concurrency: "unbounded" })
      assert.deepStrictEqual(yield* find(author, "fig"), [])
      assert.lengthOf(yield* rows, 0)
      const other = yield* status(author, "a fig tree")
      assert.deepStrictEqual(yield* find(author, "fig"), [other])
      yield* sql`DELETE FROM status_stats WHERE status_id = ${other}`
      yield* sql`DELETE FROM statuses WHERE id = ${other}`
      yield* indexed
      assert.lengthOf(yield* sql`SELECT FROM search_documents WHERE status_id = ${other}`, 0)
    }))

  it.effect("existing posts are read in slices, from the newest on; only those that somebody may find", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const author = yield* person("prolific")
      const far = yield* indexable("faraway", "far.example")
      yield* sql`UPDATE accounts SET indexable = false WHERE id = ${far}`
      yield* indexed
      yield* sql`INSERT INTO statuses (id, account_id, html, visibility, conversation_id, local, created_at)
        SELECT next_id(1000), a, '<p>olives</p>', 'public', 1, a = ${author}, '2026-01-01'
        FROM generate_series(1, 450) i, unnest(ARRAY[${author}, ${far}]::bigint[]) a`
      yield* sql`DELETE FROM search_queue`
      yield* sql`INSERT INTO search_scans (account_id, below) VALUES (0, 9223372036854775807)`
      const { step } = yield* StatusIndex
      let steps = 0
      while (yield* step) steps++
      assert.isAbove(steps, 3)
      const count = (by: AccountId) =>
        sql`SELECT FROM search_documents d JOIN statuses s ON s.id = d.status_id WHERE s.account_id = ${by}`
      assert.lengthOf(yield* count(author), 450)
      assert.lengthOf(yield* count(far), 0)
      yield* sql`UPDATE accounts SET indexable = true WHERE id = ${far}`
      yield* indexed
      assert.lengthOf(yield* count(far), 450)
      assert.lengthOf(yield* find(author, "olives", { limit: 40, offset: 880 }), 20)
    }))

  it.effect("row 83: any text is answered, whatever posts hold", () =>
    Effect.gen(function*() {
      const [author, reader] = [yield* indexable("fuzzer"), yield* person("fuzzed")]
      const search = yield* StatusSearch
      const pieces = [
        "-",
        "\"",
        "from:me",
        "has:",
        "before:2024",
        " ",
        "'",
        "\\",
        "&",
        "|",
        "!",
        ":*",
        "<->",
        "(",
        "東京",
        "\u0e48",
        "ﷺ",
        "running",
        "=en",
        "@1"
      ]
      const samples = yield* Effect.forEach(Array.from({ length: 60 }), () =>
        Effect.map(
          Effect.forEach(Array.from({ length: 40 }), () => Random.nextIntBetween(0, pieces.length)),
          (places) => places.map((place) => pieces[place] ?? "").join("")
        )).pipe(Random.withSeed("searches"))
      for (const sample of [...samples, "\0", "\ud800", "\ud800\"x", "\u0301".repeat(300)]) {
        yield* written(author, sample.replaceAll("\0", "").toWellFormed(), "en")
        yield* search.find(reader, { text: sample, accountId: undefined, offset: 0 }, { limit: 20 })
      }
      yield* written(author, "ﷺ ".repeat(20_000), "ar")
      yield* written(author, Array.from({ length: 9_000 }, (_, i) => `word${i}`).join(" "), "en")
      yield* written(author, "東".repeat(20_000), "ja")
      yield* indexed
      assert.lengthOf(yield* find(reader, "word1"), 1)
      assert.lengthOf(yield* find(reader, "東東東"), 1)
    }))

  it.effect("many marks are looked at from the words' side", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [shy, reader] = [yield* person("shy_author"), yield* person("collector")]
      yield* sql`INSERT INTO statuses (id, account_id, html, visibility, conversation_id, local, created_at)
        SELECT ${
        idAt(5_000)
      } + i, ${shy}, '<p>stone ' || i || '</p>', 'public', 1, true, '2026-01-01' FROM generate_series(1, 10002) i`
      yield* sql`INSERT INTO favourites (id, account_id, status_id) SELECT 100000 + id % 65536, ${reader}, id FROM statuses WHERE account_id = ${shy}`
      assert.deepStrictEqual(yield* find(reader, "stone 10001"), [idAt(5_000) + 10_001n])
      assert.deepStrictEqual(yield* find(reader, "stone", { limit: 2 }), [idAt(5_000) + 10_002n, idAt(5_000) + 10_001n])
      assert.deepStrictEqual(yield* find(reader, "stone in:public"), [])
    }), 60_000)
})
