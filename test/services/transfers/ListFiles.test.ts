import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { ServerConfig } from "../../../src/services/instance/ServerConfig.ts"
import { readCsv } from "../../../src/services/text/Csv.ts"
import { FileImports } from "../../../src/services/transfers/FileImports.ts"
import { readFile } from "../../../src/services/transfers/ListFiles.ts"
import { textOf } from "../../../src/services/transfers/ListFileText.ts"
import type { ListKind } from "../../../src/services/transfers/Transfer.ts"
import { Transfers } from "../../../src/services/transfers/Transfers.ts"
import { person } from "../../support/People.ts"
import { configuration } from "../../support/Reads.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"

const live = FileImports.layer.pipe(
  Layer.provideMerge(Layer.merge(TestDatabase.layer, Layer.succeed(ServerConfig, configuration)))
)

const given = (kind: ListKind | undefined, content: string | Uint8Array, overwrite = false) => ({
  bytes: typeof content === "string" ? new TextEncoder().encode(content) : content,
  fileName: "",
  kind,
  overwrite,
  follow: false
})

/** Encodes a text in UTF-16, with or without a byte order mark. */
const utf16 = (text: string, bigEndian: boolean) => {
  const bytes = Buffer.from(text, "utf16le")
  return bigEndian ? bytes.swap16() : bytes
}

/** Reads the lines of a file of follows. */
const read = (bytes: Uint8Array) =>
  Effect.flatMap(textOf(bytes), (text) => readFile(text, "", "follows", configuration)).pipe(
    Effect.map(({ lines }) => lines)
  )

layer(live, { excludeTestServices: true })("files of lists", (it) => {
  it.effect("F254: are refused if they are empty, or would remove everything without a valid line", () =>
    Effect.gen(function*() {
      const [imports, transfers, nina] = [yield* FileImports, yield* Transfers, yield* person("nina")]
      for (
        const [kind, text, overwrite, problem] of [
          ["domain_blocks", "#domain\n", false, "Data can't be blank"],
          ["domain_blocks", "#domain,#severity\n", true, "Data can't be blank"],
          ["domain_blocks", "no domain\nalso none\n", true, "Data has no valid lines"],
          ["filters", "{\"custom_filters\":[]}", true, "Data can't be blank"]
        ] as const
      ) {
        const { text: message } = yield* Effect.flip(imports.begin(nina, given(kind, text, overwrite), true))
        assert.include(message, problem)
      }
      assert.deepStrictEqual(yield* transfers.list(nina), [])
    }))

  it.effect("have the same lines in each encoding, with each kind of line end, separator and header", () =>
    Effect.gen(function*() {
      const text = "Account address,Show boosts\nzoe@one.example,false\n\"max@two.example\",\n"
      const utf8 = Buffer.from(text)
      const lines = yield* read(utf8)
      assert.deepStrictEqual(lines, [
        { name: "zoe@one.example", host: "one.example", details: { showReblogs: false } },
        { name: "max@two.example", host: "two.example", details: {} }
      ])
      const variants = [
        `\uFEFF${text}`,
        `\uFEFF\n\n${text}`,
        text.replaceAll("\n", "\r\n"),
        text.replaceAll("\n", "\r"),
        text.replaceAll(",", ";"),
        text.toUpperCase(),
        `${text}ZOE@one.example,true\n`
      ].map((variant) => Buffer.from(variant))
      const wide = [`\uFEFF${text}`, text].flatMap((variant) => [utf16(variant, false), utf16(variant, true)])
      for (const variant of [...variants, ...wide]) assert.deepStrictEqual(yield* read(variant), lines)
    }))

  it.effect("have accounts as Pixelfed exports them: follows by the file's name, muted and blocked ones by the choice", () =>
    Effect.gen(function*() {
      const [zoe, max] = ["https://pixels.example/zoe", "https://two.example/users/max"]
      const line = (name: string, host: string) => ({ name, host, details: {} })
      const [zoeLine, maxLine] = [line(zoe, "pixels.example"), line(max, "two.example")]
      const of = (text: string, fileName: string, kind?: ListKind) => readFile(text, fileName, kind, configuration)
      // Pixelfed writes parts of a list on lines of their own.
      const follows = `[\n\n    "${zoe}"\n\n,\n    "${max}",\n    "no account"\n]`
      const found = yield* of(follows, "pixelfed-following.json")
      assert.deepStrictEqual([found.kind, found.guessed], ["follows", "follows"])
      assert.deepStrictEqual(found.lines.slice(0, 2), [zoeLine, maxLine])
      assert.deepInclude(found.lines[2], { reason: "invalid" })
      const both = JSON.stringify({ muted: [zoe], blocked: [max] })
      assert.deepStrictEqual((yield* of(both, "muted-and-blocked-accounts.json", "mutes")).lines, [zoeLine])
      assert.deepStrictEqual((yield* of(both, "muted-and-blocked-accounts.json", "blocks")).lines, [maxLine])
      const refusal = (text: string, fileName: string, kind?: ListKind) =>
        Effect.map(Effect.flip(of(text, fileName, kind)), ({ message }) => message)
      assert.include(yield* refusal(follows, "pixelfed-followers.json"), "Kind cannot be detected")
      for (const text of ["[1]", "[[]]", "[", `{"a":1}`, `["${"x".repeat(2_200_000)}"]`]) {
        assert.include(yield* refusal(text, "", "blocks"), "Data is not a list of accounts", text.slice(0, 20))
      }
      assert.include(
        yield* refusal(JSON.stringify(Array.from({ length: 20_001 }, (_, n) => `u${n}@a.example`)), "", "follows"),
        "too many"
      )
    }))

  it.effect("F319: are recognised and read as GoToSocial and Akkoma write them, by their own names", () =>
    Effect.gen(function*() {
      const account = (name: string, details = {}) => ({
        name,
        host: name.split("@")[1]?.split(" ")[0] ?? null,
        details
      })
      const files = [
        // GoToSocial: headers for follows and mutes only, and LF.
        [
          "following.csv",
          "Account address,Show boosts\nzoe@one.example,true\nmax@two.example,false\n",
          "follows",
          [account("zoe@one.example", { showReblogs: true }), account("max@two.example", { showReblogs: false })]
        ],
        [
          "lists.csv",
          "Very cool list,zoe@one.example\n\"Friends, old\",max@two.example\n",
          "lists",
          [
            account("zoe@one.example Very cool list", { list: "Very cool list" }),
            account("max@two.example Friends, old", { list: "Friends, old" })
          ]
        ],
        ["blocks.csv", "zoe@one.example\nmax@two.example\n", "blocks", [
          account("zoe@one.example"),
          account("max@two.example")
        ]],
        [
          "mutes.csv",
          "Account address,Hide notifications\nzoe@one.example,true\nmax@two.example,false\n",
          "mutes",
          [
            account("zoe@one.example", { hideNotifications: true }),
            account("max@two.example", { hideNotifications: false })
          ]
        ],
        // Akkoma's web client: no header, and no end of line after the last name.
        ["friends.csv", "zoe@one.example\nMax@two.example", "follows", [
          account("zoe@one.example"),
          account("max@two.example")
        ]],
        ["blocks.csv", "zoe@one.example", "blocks", [account("zoe@one.example")]],
        ["mutes.csv", "zoe@one.example\nmax@two.example", "mutes", [
          account("zoe@one.example"),
          account("max@two.example")
        ]]
      ] as const
      for (const [fileName, text, kind, lines] of files) {
        const found = yield* readFile(text, fileName, undefined, configuration)
        assert.deepStrictEqual(found, { kind, guessed: kind, lines }, `${fileName}: ${text}`)
      }
      // Followers of GoToSocial cannot be brought.
      const followers = readFile("Account address\nzoe@one.example\n", "followers.csv", undefined, configuration)
      assert.include((yield* Effect.flip(followers)).text, "cannot be detected")
    }))

  it.effect("F338: posts are bookmarks or favourites by the name of the file, otherwise by the choice", () =>
    Effect.gen(function*() {
      for (
        const [fileName, chosenKind, kind, guessed] of [
          ["favourites.csv", undefined, "favourites", "favourites"],
          ["likes.csv", undefined, "favourites", "favourites"],
          ["bookmarks.csv", undefined, "bookmarks", "bookmarks"],
          ["export.csv", undefined, "bookmarks", "bookmarks"],
          ["export.csv", "favourites", "favourites", "favourites"],
          ["bookmarks.csv", "favourites", "favourites", "bookmarks"],
          ["favourites.csv", "bookmarks", "bookmarks", "favourites"]
        ] as const
      ) {
        for (const text of ["https://one.example/@zoe/1\n", "#uri\nhttps://one.example/@zoe/1\n"]) {
          const found = yield* readFile(text, fileName, chosenKind, configuration)
          assert.deepStrictEqual([found.kind, found.guessed], [kind, guessed], `${fileName} ${chosenKind}: ${text}`)
        }
      }
    }))

  it.effect("are refused in other encodings, with an unclosed quote, a huge line, or too many lines", () =>
    Effect.gen(function*() {
      const rows = (count: number) => Array.from({ length: count }, (_, n) => `a${n}@one.example\n\n`).join("")
      const hostile: ReadonlyArray<readonly [Uint8Array, string]> = [
        [Buffer.from("m\u00fcller@one.example", "latin1"), "is not a text"],
        [Buffer.from("a@one.example\0"), "is not a text"],
        [Buffer.concat([utf16("\uFEFFa@one.example", false), Buffer.from([0x61])]), "is not a text"],
        [utf16("\uFEFFa\ud800@one.example", false), "is not a text"],
        [Buffer.from("a@one.example\n\"b@one.example\nc@one.example\n"), "is not a CSV file"],
        [Buffer.from("a@one.example\n\"b@one.example\"c\n"), "is not a CSV file"],
        [Buffer.alloc(20 * 1_048_576, "a"), "is not a CSV file"],
        [Buffer.alloc(20 * 1_048_576, "\""), "is not a CSV file"],
        [Buffer.alloc(20 * 1_048_576, "\n"), "can't be blank"],
        [Buffer.from(rows(20_001)), "too many"]
      ]
      for (const [bytes, problem] of hostile) {
        assert.include((yield* Effect.flip(read(bytes))).text, problem)
      }
      assert.lengthOf(yield* read(Buffer.from(rows(20_000))), 20_000)
    }))

  it.effect("F257: take memory for the cells that a file of lists may have, not for a cell per byte", () =>
    Effect.gen(function*() {
      const rows = yield* readCsv(`${",".repeat(8_000)}\n`.repeat(10), 20_000)
      assert.deepStrictEqual(rows.map(({ length }) => length), Array.from({ length: 10 }, () => 64))
    }))
})
