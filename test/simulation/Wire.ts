/* Parts of the Postgres frontend/backend protocol (version 3) that a server between clients and PGlite needs. */

const parse = 0x50
const bind = 0x42
const describe = 0x44
const close = 0x43
const sync = 0x53
const query = 0x51
const terminate = 0x58
const errorResponse = 0x45
const readyForQuery = 0x5a
const rowDescription = 0x54
const dataRow = 0x44
const parameterDescription = 0x74
const idle = 0x49
const cancelRequest = 80877102

/** Returns the purpose of a client's chunk by its first bytes. */
export const purposeOf = (chunk: Buffer): "cancel" | "start" | "terminate" | "work" => {
  if (chunk[0] === terminate) return "terminate"
  if (chunk[0] !== 0) return "work"
  return chunk.length >= 8 && chunk.readInt32BE(4) === cancelRequest ? "cancel" : "start"
}

export const message = (type: number, body: Buffer) => {
  const header = Buffer.alloc(5)
  header[0] = type
  header.writeInt32BE(body.length + 4, 1)
  return Buffer.concat([header, body])
}

export const simpleQuery = (text: string) => message(query, Buffer.from(`${text}\0`))

/** Makes a client's startup message; `parameters` are its user, database and settings. */
export const startup = (parameters: Readonly<Record<string, string>>) => {
  const body = Buffer.from(`${Object.entries(parameters).flat().map((text) => `${text}\0`).join("")}\0`)
  const header = Buffer.alloc(8)
  header.writeInt32BE(body.length + 8, 0)
  header.writeInt32BE(0x30000, 4)
  return Buffer.concat([header, body])
}

/** Splits bytes into messages. */
export const messages = (bytes: Buffer) => {
  const found: Array<{ readonly type: number; readonly body: Buffer; readonly whole: Buffer }> = []
  for (let at = 0; at + 5 <= bytes.length;) {
    const end = at + 1 + bytes.readInt32BE(at + 1)
    found.push({ type: bytes[at]!, body: bytes.subarray(at + 5, end), whole: bytes.subarray(at, end) })
    at = end
  }
  return found
}

/** Returns the columns of a row in text format; null is empty. */
export const columns = (body: Buffer) => {
  const found: Array<string> = []
  for (let at = 2; at + 4 <= body.length;) {
    const length = Math.max(0, body.readInt32BE(at))
    found.push(body.toString("utf8", at + 4, at + 4 + length))
    at += 4 + length
  }
  return found
}

/** Returns the rows of a response. */
export const rows = (response: Buffer) =>
  messages(response).filter(({ type }) => type === dataRow).map(({ body }) => columns(body))

/** Returns the number of ReadyForQuery messages that follow a client's bytes. */
export const readyCount = (chunk: Buffer) =>
  messages(chunk).filter(({ type }) => type === sync || type === query).length

/** Returns the content of a response without the object ids that differ between databases. */
export const comparable = (response: Buffer) =>
  Buffer.concat(messages(response).filter(({ type }) => type !== rowDescription).map(({ whole }) => whole))

/** Returns the SQLSTATE and text of an error in a response. */
export const errorOf = (response: Buffer) => {
  const found = messages(response).find(({ type }) => type === errorResponse)
  if (found === undefined) return undefined
  const fields = found.body.toString("utf8").split("\0")
  const field = (letter: string) => fields.find((text) => text.startsWith(letter))?.slice(1) ?? ""
  return { code: field("C"), text: `${field("M")} ${field("D")}` }
}

/** Returns true if a response ends outside a transaction. */
export const endsIdle = (response: Buffer) => response.at(-6) === readyForQuery && response.at(-1) === idle

/** Returns true if a response of Postgres holds an error. */
export const hasError = (response: Buffer) => {
  for (let at = 0; at + 5 <= response.length; at += 1 + response.readInt32BE(at + 1)) {
    if (response[at] === errorResponse) return true
  }
  return false
}

const starting = message(errorResponse, Buffer.from("SFATAL\0VFATAL\0C57P03\0Mthe database system is starting up\0\0"))

/** Response of a starting server: ErrorResponse 57P03 (cannot_connect_now), after which it hangs up. */
export const refusal = starting

/** A chunk of a client, rewritten for PGlite. */
export interface Request {
  readonly chunk: Buffer
  /** Texts of the executed statements, in order. */
  readonly texts: ReadonlyArray<string>
  /** Called when the request has succeeded. */
  readonly confirm: () => void
}

/**
 * Prepared statements of all connections on one session. Equal texts are prepared once, whatever their clients' names
 * for them, as planning costs far more than running.
 */
export class Statements {
  private readonly shared: Map<string, string>
  private readonly change: (text: string) => string
  private namesUsed = 0

  /** `change` rewrites a statement's text, for mutants. `prepared` statements already exist. */
  constructor(change: (text: string) => string = (text) => text, prepared: ReadonlyMap<string, string> = new Map()) {
    this.change = change
    this.shared = new Map(prepared)
  }

  /** Prepared statements, by texts and types. */
  get keys() {
    return this.shared.keys()
  }

  /** `own` holds the connection's statements, by their client's names. */
  rewrite(own: Map<string, { readonly name: string; readonly text: string }>, chunk: Buffer): Request {
    const parts: Array<Buffer> = []
    const texts: Array<string> = []
    const prepared: Array<readonly [key: string, name: string]> = []
    for (let at = 0; at + 5 <= chunk.length;) {
      const end = at + 1 + chunk.readInt32BE(at + 1)
      const type = chunk[at]!
      const body = chunk.subarray(at + 5, end)
      const whole = chunk.subarray(at, end)
      at = end
      if (type === query) texts.push(textAt(body, 0))
      if (type === parse) {
        const name = textAt(body, 0)
        const given = body.subarray(Buffer.byteLength(name) + 1)
        const before = textAt(given, 0)
        const text = this.change(before)
        const rest = text === before
          ? given
          : Buffer.concat([Buffer.from(`${text}\0`), given.subarray(Buffer.byteLength(before) + 1)])
        if (name === "") {
          own.set("", { name: "", text })
          parts.push(text === before ? whole : message(parse, Buffer.concat([Buffer.from("\0"), rest])))
          continue
        }
        const key = rest.toString("latin1")
        const known = this.shared.get(key)
        const target = known ?? `s${++this.namesUsed}`
        own.set(name, { name: target, text })
        if (known === undefined) {
          prepared.push([key, target])
          parts.push(message(parse, Buffer.concat([Buffer.from(`${target}\0`), rest])))
        } else parts.push(emptyParse)
      } else if (type === bind) {
        const portal = textAt(body, 0)
        const name = textAt(body, Buffer.byteLength(portal) + 1)
        const statement = own.get(name)
        texts.push(statement?.text ?? "")
        const rest = body.subarray(Buffer.byteLength(portal) + 1 + Buffer.byteLength(name) + 1)
        parts.push(message(bind, Buffer.concat([Buffer.from(`${portal}\0${statement?.name ?? name}\0`), rest])))
      } else if ((type === describe || type === close) && body[0] === sync) {
        const name = textAt(body, 1)
        const target = type === close ? "gone" : own.get(name)?.name ?? name
        if (type === close) own.delete(name)
        parts.push(message(type, Buffer.from(`S${target}\0`)))
      } else parts.push(whole)
    }
    const confirm = () => prepared.forEach(([key, name]) => this.shared.set(key, name))
    return { chunk: Buffer.concat(parts), texts, confirm }
  }
}

/** Prepares a statement by text and types, and asks for its parameters. */
export const describing = (name: string, key: string) =>
  Buffer.concat([
    message(parse, Buffer.concat([Buffer.from(`${name}\0`), Buffer.from(key, "latin1")])),
    message(describe, Buffer.from(`S${name}\0`)),
    message(sync, Buffer.alloc(0))
  ])

/** Returns the number of a statement's parameters from the server's description. */
export const parametersOf = (response: Buffer) =>
  messages(response).find(({ type }) => type === parameterDescription)?.body.readUInt16BE(0) ?? 0

/** Makes a message that plans a statement: it binds only nulls, and never executes it. */
export const binding = (name: string, parameters: number) => {
  const body = Buffer.alloc(4 + 4 * parameters + 2, 0xff)
  body.writeUInt16BE(0, 0)
  body.writeUInt16BE(parameters, 2)
  body.writeUInt16BE(0, 4 + 4 * parameters)
  return Buffer.concat([
    message(bind, Buffer.concat([Buffer.from(`\0${name}\0`), body])),
    message(sync, Buffer.alloc(0))
  ])
}

/** Parse of an unnamed empty statement, instead of one that is already prepared. */
const emptyParse = message(parse, Buffer.from([0, 0, 0, 0]))

const textAt = (bytes: Buffer, from: number) => bytes.toString("utf8", from, bytes.indexOf(0, from))
