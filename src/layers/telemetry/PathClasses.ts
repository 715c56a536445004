import { filesPath, remoteFilesPath } from "../../services/instance/Urls.ts"

/** Classes of paths by which requests are counted. */
export const pathClasses = ["api", "federation", "files", "oauth", "pages"] as const
type PathClass = typeof pathClasses[number]

/** Beginnings of the paths of each class; every other path is a page. */
const beginnings: ReadonlyArray<readonly [string, PathClass]> = [
  ["/api/", "api"],
  ["/users/", "federation"],
  ["/ap/", "federation"],
  ["/inbox", "federation"],
  ["/actor", "federation"],
  ["/contexts/", "federation"],
  ["/emojis/", "federation"],
  ["/.well-known/", "federation"],
  ["/nodeinfo/", "federation"],
  [`${filesPath}/`, "files"],
  [`${remoteFilesPath}/`, "files"],
  ["/assets/", "files"],
  ["/oauth/", "oauth"]
]

/** Returns the class of a request's URL. */
export const pathClassOf = (url: string): PathClass => {
  for (const [beginning, path] of beginnings) if (url.startsWith(beginning)) return path
  return "pages"
}
