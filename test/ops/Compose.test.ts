import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { variables } from "../../src/layers/environment/variables.ts"

const root = `${import.meta.dirname}/../..`
const read = (path: string) => readFileSync(`${root}/${path}`, "utf8")

/** Variables of the images of Postgres and of the proxy. */
const foreign = new Set(["POSTGRES_USER", "POSTGRES_PASSWORD"])
const matches = (text: string, pattern: RegExp) => Array.from(text.matchAll(pattern), ([, name = ""]) => name)

describe.each(["compose.yaml", "compose.cluster.yaml"])("ops/container/%s", (name) => {
  const text = read(`ops/container/${name}`).replaceAll(/^\s*#.*\n/gm, "")

  it("sets variables that are settings", () => {
    const set = matches(text, /(?:^\s+|[{,] )([A-Z][A-Z_]+):(?: |$)/gm)
    assert.isAbove(set.length, 2)
    assert.deepStrictEqual(set.filter((one) => !(one in variables) && !foreign.has(one)), [])
  })

  it("says which of its own variables are missing, or has a default for them", () => {
    const used = new Set(matches(text, /\$\{([A-Z_]+)/g))
    const explained = new Set(matches(text, /\$\{([A-Z_]+):[?-]/g))
    assert.deepStrictEqual([...used].filter((one) => !explained.has(one)), [])
  })

  // podman-compose passes them on as they are written, so that the server gets "${SMTP_URL:-}".
  it("F393: has no empty defaults: variables without a value are passed on if they are set", () => {
    assert.deepStrictEqual(matches(text, /\$\{([A-Z_]+):?-\}/g), [])
  })

  it("declares the volumes that it mounts, and waits for services that it has", () => {
    const [, services = "", volumes = ""] = text.split(/^(?:services|volumes):$/m)
    const declared = matches(volumes, /^ {2}([a-z]+):$/gm)
    const mounted = matches(text, /"([a-z]+):\/[\w/]+"/g)
    assert.sameMembers([...new Set(mounted)], declared)
    const names = matches(services, /^ {2}([a-z0-9]+):$/gm)
    const awaited = matches(text, /^ {4}([a-z]+): \{ condition: /gm)
    assert.deepStrictEqual(awaited.filter((one) => !names.includes(one)), [])
    for (const one of matches(text, /^ {4}([a-z]+): \{ condition: service_healthy/gm)) {
      assert.match(services.split(new RegExp(`^ {2}${one}:$`, "m"))[1]?.split(/^ {2}\S/m)[0] ?? "", /healthcheck:/)
    }
  })

  it("passes requests to its nodes, at the port of the image", () => {
    const port = /PORT=(\d+)/.exec(read("ops/container/Containerfile"))?.[1]
    const nodes = matches(text, /CLUSTER_HOST: (\w+)/g)
    const upstreams = matches(read("ops/container/Caddyfile"), /(\w+:\d+)/g)
    if (nodes.length > 0) assert.deepStrictEqual(upstreams, nodes.map((node) => `${node}:${port}`))
    else assert.include(text, `:${port}"]`)
  })
})

describe("package-lock.json", () => {
  it("has a build for arm64 of each package that a server on x64 needs", () => {
    const { packages }: { packages: Record<string, { cpu?: ReadonlyArray<string>; dev?: boolean; libc?: unknown }> } =
      JSON.parse(read("package-lock.json"))
    const needed = Object.entries(packages).flatMap(([path, { cpu, dev }]) =>
      dev !== true && cpu?.includes("x64") === true && path.includes("linux") ? [path] : []
    )
    assert.isAbove(needed.length, 2)
    assert.deepStrictEqual(needed.filter((path) => !(path.replace("x64", "arm64") in packages)), [])
  })
})
