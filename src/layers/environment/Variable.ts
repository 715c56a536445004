import { Option, Redacted, Result, Schema } from "effect"
import { IpNetwork, NetAddress } from "effect/net"

/** One variable of the environment: how its text is read, and what people are told about it. */
export interface Variable<out A> {
  /** Its purpose, a sentence of Markdown. */
  readonly about: string
  /** The values it takes, as an error message says it: "expected ...". */
  readonly expects: string
  /** The default as documented: a text that is read like a given one, or words where it is derived. */
  readonly fallback: string
  /** The value may not be shown. */
  readonly secret: boolean
  readonly read: (text: string) => Option.Option<A>
  /** The value of a variable that is not set, or set to nothing. */
  readonly absent: A
}

interface Words {
  readonly about: string
  readonly secret?: boolean
}

type Reader<A> = Pick<Variable<A>, "expects" | "read">

/** A variable whose default is a text like any other that it takes. */
export const withDefault = <A>(
  { expects, read }: Reader<A>,
  fallback: string,
  { about, secret = false }: Words
): Variable<A> => ({
  about,
  expects,
  fallback: `\`${fallback}\``,
  secret,
  read,
  absent: Option.getOrThrowWith(read(fallback), () => new Error(`${fallback} is no default for ${expects}`))
})

/** A variable that may be left out; `fallback` says what happens then. */
export const optional = <A>(
  { expects, read }: Reader<A>,
  fallback: string,
  { about, secret = false }: Words
): Variable<A | undefined> => ({
  about,
  expects,
  fallback,
  secret,
  read,
  absent: undefined
})

const reader = <A>(expects: string, read: (text: string) => Option.Option<A>): Reader<A> => ({ expects, read })

const fromResult = <A, E>(result: Result.Result<A, E>) => Result.getSuccess(result)

export const text = (expects: string): Reader<string> => reader(expects, Option.some)

export const oneOf = <const A extends string>(...values: ReadonlyArray<A>): Reader<A> =>
  reader(values.map((value) => `\`${value}\``).join(" or "), Schema.decodeUnknownOption(Schema.Literals(values)))

export const integer = (minimum: number, maximum: number): Reader<number> =>
  reader(
    `a whole number from ${minimum} to ${maximum}`,
    Schema.decodeUnknownOption(
      Schema.NumberFromString.check(Schema.isInt(), Schema.isBetween({ minimum, maximum }))
    )
  )

/** `true` for yes; Mastodon's operators write 1, on and yes as well. */
export const flag: Reader<boolean> = reader("`true` or `false`", (value) => {
  const word = value.toLowerCase()
  if (["true", "1", "on", "yes"].includes(word)) return Option.some(true)
  return ["false", "0", "off", "no"].includes(word) ? Option.some(false) : Option.none()
})

/** A URL with one of these schemes. */
export const url = (...schemes: ReadonlyArray<string>): Reader<URL> =>
  reader(`a URL that begins with ${schemes.map((scheme) => `${scheme}://`).join(" or ")}`, (value) => {
    const parsed = URL.parse(value)
    return parsed !== null && parsed.host !== "" && schemes.includes(parsed.protocol.slice(0, -1))
      ? Option.some(parsed)
      : Option.none()
  })

export const secretUrl = (...schemes: ReadonlyArray<string>): Reader<Redacted.Redacted<string>> => {
  const { expects, read } = url(...schemes)
  return reader(expects, (value) => Option.as(read(value), Redacted.make(value)))
}

export const secretText = (charactersMin: number): Reader<Redacted.Redacted<string>> =>
  reader(
    `at least ${charactersMin} characters`,
    (value) => value.length >= charactersMin ? Option.some(Redacted.make(value)) : Option.none()
  )

/** Networks (`10.0.0.0/8`) and addresses, separated by commas. */
export const networks: Reader<ReadonlyArray<IpNetwork.IpNetwork>> = reader(
  "IP addresses or networks (`10.0.0.0/8`), separated by commas",
  (value) =>
    Option.all(
      value.split(",").map((part) => part.trim()).filter((part) => part !== "").map((part) =>
        fromResult(
          part.includes("/")
            ? IpNetwork.fromString(part)
            : Result.flatMap(
              NetAddress.ipFromString(part),
              (address) => IpNetwork.fromAddress(address, NetAddress.width(address))
            )
        )
      )
    )
)

/** Addresses, with a port where it is not the usual one, separated by commas. */
export const servers: Reader<ReadonlyArray<string>> = reader(
  "IP addresses (`192.0.2.53` or `192.0.2.53:5353`), separated by commas",
  (value) => {
    const parts = value.split(",").map((part) => part.trim()).filter((part) => part !== "")
    const isOne = (part: string) => {
      const [, address = part] = /^(?:\[([0-9a-f:.]+)\]|([\d.]+))(?::\d{1,5})$/i.exec(part)?.filter(Boolean) ?? []
      return Result.isSuccess(NetAddress.ipFromString(address))
    }
    return parts.every(isOne) ? Option.some(parts) : Option.none()
  }
)

/** Kinds of actors that a node may have. */
export const shardGroups = ["default", "media"] as const
export type ShardGroup = typeof shardGroups[number]

/** Some of those words, separated by commas. */
export const groups: Reader<ReadonlyArray<ShardGroup>> = reader(
  `some of ${shardGroups.map((name) => `\`${name}\``).join(", ")}, separated by commas`,
  (value) =>
    Schema.decodeUnknownOption(Schema.NonEmptyArray(Schema.Literals(shardGroups)))(
      value.split(",").map((part) => part.trim()).filter((part) => part !== "")
    )
)

/** A host name or an IP address. */
export const host: Reader<string> = reader(
  "a host name or an IP address",
  (value) => /^[a-z0-9._:-]+$/i.test(value) ? Option.some(value) : Option.none()
)

/** The part after the @ of a handle: a host name in lower case, with a port where the server has one of its own. */
export const domain: Reader<string> = reader("a domain name, for example `example.org`", (value) => {
  const name = value.toLowerCase()
  return URL.parse(`https://${name}`)?.host === name ? Option.some(name) : Option.none()
})
