import { shapes } from "../../http/body/Shapes.ts"

/** A request with an expensive body, named after what makes it expensive. */
export interface Hard {
  readonly name: string
  readonly method: string
  readonly path: string
  readonly body: () => string | FormData
  readonly type?: string
}

const bytes = 1_040_000
const fill = (text: string, length: number) => text.repeat(Math.floor(length / Buffer.byteLength(text)))
const json = (name: string, method: string, path: string, value: () => unknown): Hard => ({
  name,
  method,
  path,
  type: "application/json",
  body: () => JSON.stringify(value())
})
const status = (name: string, text: () => string) => json(name, "POST", "/api/v1/statuses", () => ({ status: text() }))
const numbers = (count: number) => Array.from({ length: count }, (_, n) => String(n + 1))

/** The longest single character for a limit in characters: an emoji of 25 bytes. */
const wide = "\u{1f468}\u200d\u{1f469}\u200d\u{1f467}\u200d\u{1f466}"

const picture = (file: Uint8Array<ArrayBuffer>) => () => {
  const form = new FormData()
  form.append("file", new Blob([file]), "a.png")
  return form
}

/** Returns bodies of each kind, all near the limits; `file` is a picture. */
export const bodies = (file: Uint8Array<ArrayBuffer>): ReadonlyArray<Hard> => [
  ...shapes.map(([name, type, body]): Hard => ({
    name: `shape: ${name}`,
    method: "POST",
    path: "/api/v1/statuses",
    type,
    body: () => body
  })),
  status("a status of a megabyte", () => fill("a ", bytes)),
  status("a status of a megabyte of marks", () => `a${fill("\u0301", bytes)}`),
  status("a status of a megabyte of mentions", () => fill("@a@b.example ", bytes)),
  status("a status of a megabyte of links", () => fill("https://a.example/ ", bytes)),
  status("a status of marks, as long as is accepted", () => `a${fill("\u0301", 60_000)}`),
  status("a status of wide characters", () => wide.repeat(499)),
  status("a status of mentions", () => fill("@a@b.example ", 490)),
  status("a status of links", () => fill("http://a.b/ ", 490)),
  status("a status of hashtags", () => fill("#a ", 490)),
  status("a status of line breaks", () => fill("a\n", 490)),
  json("a poll", "POST", "/api/v1/statuses", () => ({
    status: "?",
    poll: { options: Array.from({ length: 9_000 }, (_, n) => `${n} ${"x".repeat(90)}`), expires_in: 300 }
  })),
  json("9,000 files of a status", "POST", "/api/v1/statuses", () => ({ status: "x", media_ids: numbers(9_000) })),
  json("names and fields", "PATCH", "/api/v1/accounts/update_credentials", () => ({
    display_name: `a${fill("\u0301", 200_000)}`,
    note: wide.repeat(7_000),
    fields_attributes: Array.from({ length: 4 }, () => ({ name: wide.repeat(255), value: wide.repeat(2_000) }))
  })),
  json("a picture as text", "PATCH", "/api/v1/accounts/update_credentials", () => ({
    avatar: `data:image/png;base64,${Buffer.alloc(5_900_000, 7).toString("base64")}`
  })),
  json("a filter of 3,000 words", "POST", "/api/v2/filters", () => ({
    title: "x",
    context: ["home"],
    keywords_attributes: Array.from({ length: 3_000 }, (_, n) => ({ keyword: `word ${n}`, whole_word: true }))
  })),
  json("a report of 9,000 posts", "POST", "/api/v1/reports", () => ({ account_id: "1", status_ids: numbers(9_000) })),
  { name: "a file", method: "POST", path: "/api/v2/media", body: picture(file) },
  json("an inbox: a megabyte of text", "POST", "/inbox", () => ({
    "@context": "https://www.w3.org/ns/activitystreams",
    id: "https://b.example/1",
    type: "Create",
    actor: "https://b.example/a",
    object: { type: "Note", content: fill("<p>a</p>", bytes) }
  })),
  json("an inbox: 9,000 addressees", "POST", "/inbox", () => ({
    id: "https://b.example/1",
    type: "Create",
    actor: "https://b.example/a",
    to: Array.from({ length: 9_000 }, (_, n) => `https://b.example/users/${n}/${"x".repeat(60)}`)
  }))
]
