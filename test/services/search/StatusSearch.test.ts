import { assert, layer } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { AccountId } from "../../../src/services/database/Ids.ts"
import { StatusSearch } from "../../../src/services/search/StatusSearch.ts"
import { person } from "../../support/People.ts"
import { status } from "../../support/Posts.ts"
import { find, indexable, layerSearch, written } from "./Searching.ts"

layer(layerSearch, { excludeTestServices: true })("search of posts", (it) => {
  it.effect("S-150: words in the forms of their language, without accents, by part in scripts without spaces", () =>
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
        ["el", "Τα βιβλία της Αθήνας", ["βιβλια", "αθηνα", "\"βιβλία της\""], ["θάλασσα"]],
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
      // Stems of one language are not searched in another.
      const new_ = yield* written(author, "a new newspaper", "en")
      assert.notInclude(yield* find(reader, "news"), new_)
    }))

  it.effect("S-150: posts of indexable authors, and always the user's own posts, mentions, favourites, bookmarks, boosts and polls with the user's vote", () =>
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
      // Opting out takes effect at once.
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
      yield* sql`INSERT INTO quotes (status_id, account_id, quoted_status_id, state, created_at)
        VALUES (${third}, ${nell}, ${first}, 'accepted', '2026-01-01')`
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
        ["quince is:quote", [third]],
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
      // Days are in the user's time zone.
      yield* sql`UPDATE users SET time_zone = 'Asia/Tokyo' WHERE account_id = ${reader}`
      assert.deepStrictEqual(yield* find(reader, "quince during:2025-03-03"), [third, second])
    }))

  it.effect("row 62, row 57: leaves out accounts hidden by or from the viewer, invisible posts, suspended authors and limited strangers", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const reader = yield* person("careful")
      const now = new Date(yield* Clock.currentTimeMillis)
      const by: Record<string, bigint> = {}
      const authors: Record<string, AccountId> = {}
      for (const kind of ["plain", "blocked", "muted", "blocking", "suspended", "limited", "followed"]) {
        const author = authors[kind] = yield* indexable(`med_${kind}`)
        by[kind] = yield* status(author, "loquats again")
        yield* sql`INSERT INTO favourites (id, account_id, status_id) VALUES (next_id(1), ${reader}, ${by[kind]!})`
      }
      const all = Object.values(by).toReversed()
      assert.deepStrictEqual(yield* find(reader, "loquats"), all)
      yield* sql`INSERT INTO blocks (id, account_id, target_account_id) VALUES (5, ${reader}, ${authors
        .blocked!}), (6, ${authors.blocking!}, ${reader})`
      yield* sql`INSERT INTO mutes (id, account_id, target_account_id) VALUES (5, ${reader}, ${authors.muted!})`
      yield* sql`UPDATE accounts SET suspended_at = ${now} WHERE id = ${authors.suspended!}`
      yield* sql`UPDATE accounts SET silenced_at = ${now} WHERE id IN (${authors.limited!}, ${authors.followed!})`
      yield* sql`INSERT INTO follows (id, account_id, target_account_id, created_at) VALUES (5, ${reader}, ${authors
        .followed!}, ${now})`
      assert.deepStrictEqual(yield* find(reader, "loquats"), [by.followed!, by.plain!])
      assert.deepStrictEqual(
        yield* find(authors.limited!, "loquats"),
        [by.followed, by.limited, by.blocking, by.muted, by.blocked, by.plain].filter((id) => id !== by.followed)
          .flatMap((id) => id ?? [])
      )
    }))
})
