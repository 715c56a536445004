/**
 * Whether a sender gave one of its ids before another: ids that differ in a single number are counted up (`#likes/12`,
 * `#follows/34`, `/statuses/56/activity`: Mastodon and ourselves). Undefined where they say nothing of that.
 */
export const isBefore = (one: string, other: string): boolean | undefined => {
  const [parts, others] = [one.split(/(\d+)/), other.split(/(\d+)/)]
  const unlike = parts.flatMap((part, at) => part === others[at] ? [] : [at])
  const [at = 0] = unlike
  // The separators are at the odd places.
  if (parts.length !== others.length || unlike.length !== 1 || at % 2 === 0) return undefined
  return BigInt(parts[at] ?? "") < BigInt(others[at] ?? "")
}
