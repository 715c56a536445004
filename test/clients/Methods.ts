import { readdirSync, readFileSync } from "node:fs"

/* Methods of client libraries, read from their declarations, to check that a table of calls is complete. */

const modules = `${import.meta.dirname}/../../node_modules`
const rest = `${modules}/masto/dist/mastodon/rest`
const withoutComments = (path: string) => readFileSync(path, "utf8").replace(/\/\*[\s\S]*?\*\//g, "")

/** Returns the first of the types in a list between brackets. */
const firstType = (types: string): string => {
  let depth = 0
  for (const [at, character] of [...types].entries()) {
    if ("<{([".includes(character)) depth++
    if (">})]".includes(character) && --depth < 0) return types.slice(0, at)
    if (character === "," && depth === 0) return types.slice(0, at)
  }
  return types
}

const resourcesIn = (folder: string) => {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".d.ts") && !name.startsWith("admin"))
  const found = files.flatMap((file) =>
    Array.from(
      withoutComments(`${folder}/${file}`).matchAll(
        /interface ([\w$]+Resource)(?: extends [^{]+)? \{\n([\s\S]*?)\n\}/g
      ),
      ([, name = "", body = ""]) => [name, body] as const
    )
  )
  return new Map(found)
}

const member = /^ {4}(?:readonly )?(?:(\$select)\([^)]*\)|(\w+)): ([\s\S]*?);$/gm

/** Every user operation of masto, by its path (`v1.accounts.$select.follow`), with the type of its result. */
export const mastoMethods: ReadonlyMap<string, string> = (() => {
  const found = new Map<string, string>()
  const walk = (resources: ReadonlyMap<string, string>, name: string, path: string): void => {
    const body = resources.get(name)
    if (body === undefined) throw new Error(`masto declares no ${name}`)
    for (const [, select, key = select, type = ""] of body.matchAll(member)) {
      const at = `${path}.${key}`
      // One operation is declared by hand, with a result type for each kind of parameters.
      if (!/^(?:Method<|\{|\()/.test(type)) walk(resources, type, at)
      else found.set(at, type.startsWith("Method<") ? firstType(type.slice("Method<".length)).trim() : "Status")
    }
  }
  const client = withoutComments(`${rest}/client.d.ts`)
  for (const version of ["v1", "v2"]) {
    const resources = resourcesIn(`${rest}/${version}`)
    for (const [, key = "", type = ""] of client.matchAll(new RegExp(`^ {4}(\\w+): ${version}\\.(\\w+);`, "gm"))) {
      if (key !== "admin") walk(resources, type, `${version}.${key}`)
    }
  }
  return found
})()

/** Calls the operation at a path; `ids` are for its `$select` parts, in order. */
export const callMasto = async (api: object, path: string, ids: ReadonlyArray<string>, params: unknown) => {
  const names = path.split(".")
  const last = names.pop() ?? ""
  let at: unknown = api
  let used = 0
  for (const name of names) {
    const next: unknown = Reflect.get(Object(at), name)
    at = name === "$select" && typeof next === "function" ? next(ids[used++]) : next
  }
  const operation: unknown = Reflect.get(Object(at), last)
  if (typeof operation !== "function" || used !== ids.length) throw new Error(`${path} takes ${used} ids`)
  const result: unknown = await (params === undefined ? operation() : operation(params))
  return result
}

/** Every operation of megalodon, with the result type of its entities. */
export const megalodonMethods: ReadonlyMap<string, string> = new Map(
  Array.from(
    (/interface MegalodonInterface \{\n([\s\S]*?)\n\}/.exec(
      withoutComments(`${modules}/megalodon/lib/esm/megalodon.d.ts`)
    )?.[1] ?? "").matchAll(/^ {4}(\w+)\([\s\S]*?\): (?:Promise<([\s\S]*?)>|void);$/gm),
    ([, name = "", type = ""]) => [
      name,
      type.replace(/^Response<([\s\S]*)>$/, "$1").replaceAll(/\b(?:Entity|OAuth)\./g, "")
    ]
  )
)
