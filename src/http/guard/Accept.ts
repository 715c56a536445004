/* Content negotiation by the `Accept` header (RFC 9110 section 12.5.1). */

/** Ranges of one header that are weighed; clients send a handful. */
const rangesMax = 50

/** Media types of the forms in which resources are offered. */
const mediaTypes = {
  /** A page for people. */
  page: ["text/html"],
  /** An ActivityPub document; Mastodon takes plain JSON for the same. */
  activity: ["application/activity+json", "application/ld+json", "application/json"],
  json: ["application/json", "application/jrd+json"],
  xrd: ["application/xrd+xml", "application/xml", "text/xml"]
} as const

interface Range {
  readonly type: string
  /** Between 0 and 1; 0 rules the range out. */
  readonly weight: number
  /** Place in the header, from 0. */
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

/** How closely a range names a type: 3 by its name, 2 by its half, 1 by `*` alone, 0 not at all. */
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

/** Preference for a type: that of the range that names it most closely. */
const preferenceOf = (ranges: ReadonlyArray<Range>, type: string): Preference | undefined => {
  let found: Preference | undefined
  for (const { place, type: range, weight } of ranges) {
    const close = closeness(range, type)
    if (close > (found?.closeness ?? 0)) found = { weight, closeness: close, place }
  }
  return found
}

/**
 * Returns the offer that a request prefers: by weight, then by how closely the header names it, then by the header's
 * order. The first offer where the header is absent or takes none of them.
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
