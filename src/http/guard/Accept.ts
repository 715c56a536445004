/* Content negotiation by the `Accept` header (RFC 9110 section 12.5.1). */

/** Maximum ranges of one header that are read; clients send a handful. */
const rangesMax = 50

/** Media types of the forms in which a resource is available. */
const mediaTypes = {
  /** HTML page. */
  page: ["text/html"],
  /** An ActivityPub document; Mastodon takes plain JSON for the same. */
  activity: ["application/activity+json", "application/ld+json", "application/json"],
  json: ["application/json", "application/jrd+json"],
  xrd: ["application/xrd+xml", "application/xml", "text/xml"]
} as const

interface Range {
  readonly type: string
  /** Between 0 and 1; 0 excludes the range. */
  readonly weight: number
  /** Index in the header. */
  readonly place: number
}

const weightOf = (parameters: ReadonlyArray<string>): number => {
  const [, value] =
    parameters.map((parameter) => parameter.split("=")).find(([name = ""]) => name.trim().toLowerCase() === "q") ?? []
  const weight = value === undefined ? 1 : Number(value)
  return weight >= 0 && weight <= 1 ? weight : 1
}

const rangesOf = (accept: string): ReadonlyArray<Range> =>
  accept.split(",", rangesMax).map((member, place) => {
    const [type = "", ...parameters] = member.split(";")
    return { type: type.trim().toLowerCase(), weight: weightOf(parameters), place }
  })

/** Returns how specifically a range matches a type: 3 by its full name, 2 by its first half, 1 by `*`, 0 not at all. */
const closeness = (range: string, type: string): number =>
  range === type ? 3 : range === `${type.slice(0, type.indexOf("/"))}/*` ? 2 : range === "*/*" ? 1 : 0

interface Preference {
  readonly weight: number
  readonly closeness: number
  readonly place: number
}

const isHigher = (one: Preference, other: Preference): boolean =>
  one.weight !== other.weight
    ? one.weight > other.weight
    : one.closeness !== other.closeness
    ? one.closeness > other.closeness
    : one.place < other.place

/** Returns the preference for a type, from the most specific range that matches it. */
const preferenceOf = (ranges: ReadonlyArray<Range>, type: string): Preference | undefined => {
  let found: Preference | undefined
  for (const { place, type: range, weight } of ranges) {
    const close = closeness(range, type)
    if (close > (found?.closeness ?? 0)) found = { weight, closeness: close, place }
  }
  return found
}

/**
 * Returns the offer that a request prefers: by weight, then by the most specific match, then by the header's order.
 * Returns the first offer if the header is absent or accepts none.
 */
export const preferredOffer = <Offer extends keyof typeof mediaTypes>(
  accept: string | undefined,
  ...offers: readonly [Offer, ...ReadonlyArray<Offer>]
): Offer => {
  const ranges = rangesOf(accept ?? "")
  let best: Preference = { weight: 0, closeness: 0, place: rangesMax }
  let chosen = offers[0]
  for (const offer of offers) {
    for (const type of mediaTypes[offer]) {
      const preference = preferenceOf(ranges, type)
      if (preference === undefined || preference.weight === 0 || !isHigher(preference, best)) continue
      best = preference
      chosen = offer
    }
  }
  return chosen
}
