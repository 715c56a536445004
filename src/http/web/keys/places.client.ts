/* Keys that lead to places, after `g`; the page of keys lists them. */

/** Paths by key; `{me}` is the own profile. */
export const places = {
  h: "/home",
  n: "/notifications",
  l: "/public/local",
  t: "/public",
  e: "/explore",
  d: "/conversations",
  s: "/about",
  f: "/favourites",
  p: "{me}",
  u: "{me}",
  b: "/blocks",
  m: "/mutes",
  r: "/follow_requests"
} as const
