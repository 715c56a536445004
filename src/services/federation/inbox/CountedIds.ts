/**
 * Returns true if a sender issued `one` before `other`. Ids that differ only in one number count up (`#likes/12`,
 * `#follows/34`, `/statuses/56/activity`: Mastodon and this server). Undefined for other ids.
 */
export const isBefore = (one: string, other: string): boolean | undefined => {
  const [parts, others] = [one.split(/(\d+)/), other.split(/(\d+)/)]
  const unlike = parts.flatMap((part, at) => part === others[at] ? [] : [at])
  const [at = 0] = unlike
  // Odd indexes hold the numbers.
  if (parts.length !== others.length || unlike.length !== 1 || at % 2 === 0) return undefined
  return BigInt(parts[at] ?? "") < BigInt(others[at] ?? "")
}
