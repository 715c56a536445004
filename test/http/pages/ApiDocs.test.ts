import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { HttpApi } from "effect/http-api"
import { Api } from "../../../src/http/Api.ts"
import { Access } from "../../../src/http/guard/Access.ts"
import { TestServer } from "../../support/Server.ts"
import { problems } from "./strictPage.ts"

interface Operation {
  readonly operationId: string
  readonly description?: string
  readonly security: ReadonlyArray<Readonly<Record<string, ReadonlyArray<string>>>>
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, unknown>> }>>
}

const fetchDocument = Effect.gen(function*() {
  const server = yield* TestServer
  const response = yield* server.fetch("/api/openapi.json")
  assert.strictEqual(response.status, 200)
  assert.match(response.headers.get("content-type") ?? "", /^application\/json/)
  return yield* Effect.promise(async () => JSON.parse(await response.text()))
})

const operationsOf = (document: {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}) =>
  Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ operation, path, method: method.toUpperCase() }))
  )

/** Returns every declared endpoint, as `group.name`. */
const declared = () => {
  const found = new Map<string, Access["Service"]>()
  HttpApi.reflect(Api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint, group }) => {
      const rule = endpoint.annotations.mapUnsafe.get(Access.key)
      found.set(`${group.identifier}.${endpoint.identifier}`, rule as Access["Service"])
    }
  })
  return found
}

layer(TestServer.layer(), { excludeTestServices: true })("the API's documentation", (it) => {
  it.effect("lists every endpoint with its callers", () =>
    Effect.gen(function*() {
      const document = yield* fetchDocument
      const rules = declared()
      const operations = operationsOf(document)
      assert.sameMembers(operations.map(({ operation }) => operation.operationId), [...rules.keys()])
      for (const { operation } of operations) {
        const { description, operationId, security } = operation
        const { scopes, callerKind } = rules.get(operationId)!
        assert.isString(description)
        const needed = security.flatMap((one) => one["token"] ?? [])
        assert.sameMembers([...needed], callerKind === "anyone" ? [] : [...scopes], operationId)
        assert.strictEqual(security.some((one) => Object.keys(one).length === 0), callerKind === "public", operationId)
      }
    }))

  it.effect("names paths that exist", () =>
    Effect.gen(function*() {
      const server = yield* TestServer
      for (const { method, path } of operationsOf(yield* fetchDocument)) {
        if (method !== "GET") continue
        const response = yield* server.fetch(path.replaceAll(/\{[a-z_A-Z]+\}/g, "1"))
        const text = yield* Effect.promise(() => response.text())
        assert.notInclude(text, "\"Not Found\"", path)
      }
    }))

  it.effect("S-283: errors are documented as they are sent, and every reference is valid", () =>
    Effect.gen(function*() {
      const document = yield* fetchDocument
      for (const { operation } of operationsOf(document)) {
        for (const [status, { content }] of Object.entries(operation.responses)) {
          if (Number(status) < 400) continue
          assert.deepStrictEqual(
            content,
            { "application/json": { schema: { $ref: "#/components/schemas/Error" } } },
            operation.operationId
          )
        }
      }
      const text = JSON.stringify(document)
      const named = new Set(Array.from(text.matchAll(/"#\/components\/schemas\/([^"]+)"/g), ([, name]) => name))
      for (const name of named) assert.property(document.components.schemas, name!)
      for (const ours of ["\"_tag\"", "Infinity"]) assert.isFalse(text.includes(ours), ours)
      assert.strictEqual(document.openapi, "3.1.0")
      assert.strictEqual(document.servers[0].url, (yield* TestServer).baseUrl)
    }))

  it.effect("row 54: is shown on a page without scripts or third-party resources", () =>
    Effect.gen(function*() {
      const server = yield* TestServer
      const document = yield* fetchDocument
      const response = yield* server.fetch("/api/docs")
      const page = yield* Effect.promise(() => response.text())
      assert.strictEqual(response.status, 200)
      assert.match(
        response.headers.get("content-security-policy") ?? "",
        /^default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; media-src 'self'; connect-src 'self'; /
      )
      assert.deepStrictEqual(problems(page), [])
      for (const { path } of operationsOf(document)) assert.include(page, `<code>${path}</code>`)
      const anchors = new Set(Array.from(page.matchAll(/ id="([^"]+)"/g), ([, id]) => id))
      for (const [, anchor] of page.matchAll(/href="#([^"]+)"/g)) assert.isTrue(anchors.has(anchor), anchor)
    }))

  it.effect("pictures and stylesheets named on pages and in the instance's document exist", () =>
    Effect.gen(function*() {
      const server = yield* TestServer
      const response = yield* server.fetch("/api/v2/instance")
      const instance = yield* Effect.promise(async () => JSON.parse(await response.text()))
      const named: ReadonlyArray<string> = [
        instance.thumbnail.url,
        ...instance.icon.map(({ src }: { readonly src: string }) => src),
        `${server.baseUrl}/avatars/original/missing.png`,
        `${server.baseUrl}/headers/original/missing.png`
      ]
      assert.strictEqual(named.length, 12)
      for (const url of named) {
        const picture = yield* server.fetch(url.slice(server.baseUrl.length))
        const bytes = new Uint8Array(yield* Effect.promise(() => picture.arrayBuffer()))
        assert.strictEqual(picture.headers.get("content-type"), "image/png", url)
        assert.strictEqual(new TextDecoder().decode(bytes.subarray(1, 4)), "PNG", url)
      }
      for (const { size, src } of instance.icon) {
        const picture = yield* server.fetch(src.slice(server.baseUrl.length))
        const view = new DataView(yield* Effect.promise(() => picture.arrayBuffer()))
        assert.strictEqual(`${view.getUint32(16)}x${view.getUint32(20)}`, size)
      }
      for (const path of ["/assets/pages.css", "/assets/public.css"]) {
        assert.match((yield* server.fetch(path)).headers.get("content-type") ?? "", /^text\/css/)
      }
      assert.strictEqual((yield* server.fetch("/assets/..%2f..%2fFront.ts")).status, 404)
    }))
})
