import { Option, Redacted, Result, Schema } from "effect"
import { IpNetwork, NetAddress } from "effect/net"

/** An environment variable: its parser and its documentation. */
export interface Variable<out A> {
  /** Purpose, as a Markdown sentence. */
  readonly about: string
  /** Accepted values, as in an error message: "expected ...". */
  readonly expects: string
  /** Documented default: a text that is parsed like a given one, or a description of a derived one. */
  readonly fallback: string
  /** True if the value must not be shown. */
  readonly secret: boolean
  readonly read: (text: string) => Option.Option<A>
  /** Value of a variable that is unset or empty. */
  readonly absent: A
}

interface Words {
  readonly about: string
  readonly secret?: boolean
}

type Reader<A> = Pick<Variable<A>, "expects" | "read">

/** Declares a variable whose default is parsed like a given value. */
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

/** Declares an optional variable; `fallback` describes what happens without it. */
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

/** Accepts `true` and `false`, and the other spellings that Mastodon's operators use: 1, on, yes, 0, off, no. */
export const flag: Reader<boolean> = reader("`true` or `false`", (value) => {
  const word = value.toLowerCase()
  if (["true", "1", "on", "yes"].includes(word)) return Option.some(true)
  return ["false", "0", "off", "no"].includes(word) ? Option.some(false) : Option.none()
})

/** Accepts a URL with one of these schemes. */
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
    charactersMin === 1 ? "at least one character" : `at least ${charactersMin} characters`,
    (value) => value.length >= charactersMin ? Option.some(Redacted.make(value)) : Option.none()
  )

/** Maximum names of a list, and maximum characters of one. */
const namesMax = 100
const nameCharactersMax = 255

const listed = (value: string) => value.split(",").map((part) => part.trim()).filter((part) => part !== "")
const isName = (name: string) => name !== "" && name.length <= nameCharactersMax

/** Accepts names, separated by commas. */
export const names: Reader<ReadonlyArray<string>> = reader("names, separated by commas", (value) => {
  const given = listed(value)
  return given.length > 0 && given.length <= namesMax && given.every(isName) ? Option.some(given) : Option.none()
})

/** Accepts pairs `name=value`, separated by commas. The last `=` of a pair separates them. */
export const pairs: Reader<ReadonlyArray<readonly [name: string, value: string]>> = reader(
  "pairs `name=value`, separated by commas",
  (value) => {
    const given = listed(value).map((part) => {
      const at = part.lastIndexOf("=")
      return [part.slice(0, Math.max(at, 0)).trim(), part.slice(at + 1).trim()] as const
    })
    return given.length > 0 && given.length <= namesMax && given.every((pair) => pair.every(isName))
      ? Option.some(given)
      : Option.none()
  }
)

/** Accepts networks (`10.0.0.0/8`) and addresses, separated by commas. */
export const networks: Reader<ReadonlyArray<IpNetwork.IpNetwork>> = reader(
  "IP addresses or networks (`10.0.0.0/8`), separated by commas",
  (value) =>
    Option.all(
      listed(value).map((part) =>
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

/** Accepts addresses with an optional port, separated by commas. */
export const servers: Reader<ReadonlyArray<string>> = reader(
  "IP addresses (`192.0.2.53` or `192.0.2.53:5353`), separated by commas",
  (value) => {
    const parts = listed(value)
    const isOne = (part: string) => {
      const [, address = part] = /^(?:\[([0-9a-f:.]+)\]|([\d.]+))(?::\d{1,5})$/i.exec(part)?.filter(Boolean) ?? []
      return Result.isSuccess(NetAddress.ipFromString(address))
    }
    return parts.every(isOne) ? Option.some(parts) : Option.none()
  }
)

/** Kinds of actors that a node may run. */
export const shardGroups = ["default", "media"] as const
export type ShardGroup = typeof shardGroups[number]

/** Accepts some of these kinds, separated by commas. */
export const groups: Reader<ReadonlyArray<ShardGroup>> = reader(
  `some of ${shardGroups.map((name) => `\`${name}\``).join(", ")}, separated by commas`,
  (value) =>
    Schema.decodeUnknownOption(Schema.NonEmptyArray(Schema.Literals(shardGroups)))(
      listed(value)
    )
)

/** Accepts a host name or an IP address. */
export const host: Reader<string> = reader(
  "a host name or an IP address",
  (value) => /^[a-z0-9._:-]+$/i.test(value) ? Option.some(value) : Option.none()
)

/** Accepts the domain of a handle: a host name in lower case, with an optional port. */
export const domain: Reader<string> = reader("a domain name, for example `example.org`", (value) => {
  const name = value.toLowerCase()
  return URL.parse(`https://${name}`)?.host === name ? Option.some(name) : Option.none()
})
