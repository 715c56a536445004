import type { OpenApi } from "effect/http-api"
import { type Html, html } from "../html/Html.ts"
import { methods } from "./OpenApiDocument.ts"
import { alternativesOf, isSchema, type JsonSchema } from "./Schemas.ts"

interface Operation extends OpenApi.OpenAPISpecOperation {
  readonly method: string
  readonly path: string
}

/** Renders the document as HTML without scripts: operations by group, with their parameters and responses. */
export const referenceOf = (document: OpenApi.OpenAPISpec): Html => {
  const operations = Object.entries(document.paths).flatMap(([path, item]) =>
    methods.flatMap((method): ReadonlyArray<Operation> => {
      const operation = item[method]
      return operation === undefined ? [] : [{ ...operation, method: method.toUpperCase(), path }]
    })
  )
  const groups = document.tags.map(({ description, name }) => ({
    name,
    description,
    operations: operations.filter(({ tags }) => tags.includes(name))
  }))
  return html`
<p>${document.info.description} The same as <a href="/api/openapi.json">OpenAPI document</a>.</p>
<ul class="plain row">${
    groups.map(({ name }) => html`<li><a href="#group-${name}">${titleOf(name)}</a></li>`)
  }<li><a href="#schemas">Schemas</a></li></ul>
${
    groups.map(({ description, name, operations }) =>
      html`<section id="group-${name}"><h2>${titleOf(name)}</h2>
${description === undefined ? "" : html`<p>${description}.</p>`}${operations.map(show)}</section>`
    )
  }
<section id="schemas"><h2>Schemas</h2>${
    Object.entries(document.components.schemas).map(([name, schema]) =>
      html`<details class="operation" id="schema-${name}"><summary>${name}</summary>${pretty(schema)}</details>`
    )
  }</section>`
}

const show = ({ description, method, parameters, path, requestBody, responses }: Operation): Html => {
  const documented = Object.entries(responses)
  const errors = documented.filter(([status]) => Number(status) >= 400).map(([status]) => status)
  return html`<details class="operation"><summary><code class="method">${method}</code> <code>${path}</code></summary>
${description === undefined ? "" : html`<p>${description}</p>`}
${
    parameters.length === 0 ?
      "" :
      html`<table><thead><tr><th>Parameter</th><th>In</th><th>Is</th></tr></thead><tbody>${
        parameters.map((parameter) =>
          html`<tr><td><code>${parameter.name}</code></td><td>${parameter.in}</td>
<td>${isSchema(parameter.schema) ? typeOf(parameter.schema) : ""}${parameter.required ? ", required" : ""}</td></tr>`
        )
      }</tbody></table>`
  }
${Object.values(requestBody?.content ?? {}).slice(0, 1).map(({ schema }) => html`<p>Takes</p>${pretty(schema)}`)}
<ul class="plain">${
    documented.filter(([status]) => Number(status) < 400).map(([status, { content, description }]) => {
      const [first] = Object.values(content ?? {})
      return html`<li><code>${status}</code> ${first === undefined ? description : typeOf(first.schema)}</li>`
    })
  }<li><code>${errors.join(" ")}</code> <a href="#schema-Error">Error</a></li></ul></details>`
}

/** Turns `accountActions` into "Account actions". */
const titleOf = (name: string): string => {
  const words = name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
  return words.charAt(0).toUpperCase() + words.slice(1)
}

const schemaPath = "#/components/schemas/"

/** Renders a schema in a word or two, with a link if it has a name. */
const typeOf = (schema: JsonSchema): Html => {
  const { $ref: reference, anyOf, items, type } = schema
  if (typeof reference === "string" && reference.startsWith(schemaPath)) {
    const name = reference.slice(schemaPath.length)
    return html`<a href="#schema-${name}">${name}</a>`
  }
  if (type === "array" && isSchema(items)) return html`list of ${typeOf(items)}`
  if (Array.isArray(anyOf)) {
    return html`${alternativesOf(schema).map((one, index) => html`${index === 0 ? "" : " or "}${typeOf(one)}`)}`
  }
  return html`${typeof type === "string" ? type : "any value"}`
}

const pretty = (schema: unknown): Html => html`<pre>${JSON.stringify(schema, undefined, 2)}</pre>`
