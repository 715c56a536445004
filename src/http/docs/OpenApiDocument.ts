import { Context, Option, String } from "effect"
import { HttpApi, type HttpApiGroup, OpenApi } from "effect/http-api"
import type { ServerConfig } from "../../services/instance/ServerConfig.ts"
import { softwareVersion } from "../../services/instance/Software.ts"
import { ClientError } from "../../services/runtime/Errors.ts"
import { Access, type AccessRule } from "../guard/Access.ts"
import { alternativesOf, anyText, isAnyText, isSchema, tidy } from "./Schemas.ts"

/** Descriptions of the callers that an operation accepts. */
const callers: Record<AccessRule["callerKind"], string> = {
  anyone: "Anybody; a token changes nothing.",
  public: "Anybody, or a user's token.",
  app: "An app's own token.",
  "app or user": "An app's own token or a user's.",
  user: "A user's token."
}

const wordsFor = ({ limits, permissions, scopes, callerKind }: AccessRule): string =>
  [
    callers[callerKind],
    ...(scopes.length === 0 ? [] : [`A token needs one of the scopes ${scopes.join(", ")}.`]),
    ...(permissions.length === 0
      ? []
      : [`The user's role needs the permission ${permissions.map(String.camelToSnake).join(" or ")}.`]),
    ...(limits.length === 0 ? [] : [`Has a limit of its own: ${limits.join(", ")}.`])
  ].join(" ")

const scheme = "token"

/** Returns the alternative tokens of an operation; the empty alternative means none. */
const securityOf = ({ scopes, callerKind }: AccessRule): OpenApi.OpenAPISpecOperation["security"] => {
  if (callerKind === "anyone") return []
  const withToken = scopes.length === 0 ? [{ [scheme]: [] }] : scopes.map((scope) => ({ [scheme]: [scope] }))
  return callerKind === "public" ? [{}, ...withToken] : withToken
}

/** Errors as they are sent, whatever their class. */
const errorSchema = {
  type: "object",
  required: ["error"],
  properties: {
    error: { type: "string", description: "What is wrong, as it may be shown to the user" },
    details: { type: "object", description: "By field, where a form is wrong" }
  }
}
const errorContent = { "application/json": { schema: { $ref: "#/components/schemas/Error" } } }
const classNames = new Set(ClientError.members.map(({ identifier }) => `${identifier}Encoded`))

const successOf = (response: OpenApi.OpenApiSpecResponse): OpenApi.OpenApiSpecResponse =>
  response.content === undefined ? response : {
    ...response,
    content: Object.fromEntries(
      Object.entries(response.content).map(([type, media]) => [type, { ...media, schema: tidy(media.schema) }])
    )
  }

const responsesOf = (responses: OpenApi.OpenAPISpecResponses): OpenApi.OpenAPISpecResponses =>
  Object.fromEntries(
    Object.entries(responses).map(([status, response]) => [
      status,
      Number(status) < 400 ? successOf(response) : { description: response.description, content: errorContent }
    ])
  )

/** Parameters of a path or query are texts. */
const parameterOf = (parameter: OpenApi.OpenAPISpecParameter): OpenApi.OpenAPISpecParameter => {
  const schema = isSchema(parameter.schema) ? tidy(parameter.schema) : anyText
  return { ...parameter, schema: alternativesOf(schema).some(isAnyText) ? anyText : schema }
}

const bodyOf = (body: OpenApi.OpenAPISpecRequestBody): OpenApi.OpenAPISpecRequestBody => ({
  ...body,
  content: Object.fromEntries(
    Object.entries(body.content).map(([type, { schema }]) => [type, { schema: tidy(schema) }])
  )
})

/**
 * Returns the OpenAPI document of the API that serves the requests, generated from the endpoints' schemas. Permissions
 * come from the same `Access` that the guard enforces. Errors have the shape in which they are sent.
 */
export const documentOf = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>,
  { localDomain, publicUrl }: ServerConfig["Service"]
): OpenApi.OpenAPISpec => {
  const generated = OpenApi.fromApi(api)
  const rules = new Map<string, AccessRule>()
  HttpApi.reflect(api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint, group }) => {
      const rule = Context.getOption(endpoint.annotations, Access)
      if (Option.isSome(rule)) rules.set(`${group.identifier}.${endpoint.identifier}`, rule.value)
    }
  })
  const operationOf = (operation: OpenApi.OpenAPISpecOperation): OpenApi.OpenAPISpecOperation => {
    const rule = rules.get(operation.operationId)
    return {
      ...operation,
      parameters: operation.parameters.map(parameterOf),
      responses: responsesOf(operation.responses),
      ...(operation.requestBody !== undefined && { requestBody: bodyOf(operation.requestBody) }),
      ...(rule !== undefined && { security: securityOf(rule), description: wordsFor(rule) })
    }
  }
  const paths = Object.entries(generated.paths).map(([path, item]) => [
    path,
    Object.fromEntries(methods.flatMap((method) => {
      const operation = item[method]
      return operation === undefined ? [] : [[method, operationOf(operation)]]
    }))
  ])
  const schemas = Object.entries(generated.components.schemas).flatMap(([name, schema]) =>
    classNames.has(name) ? [] : [[name, tidy(schema)] as const]
  )
  return {
    ...generated,
    info: {
      title: `Murmuration at ${localDomain}`,
      version: softwareVersion,
      description: "Mastodon's client API. Parameters travel in the query, as a form or as JSON; responses are JSON."
    },
    servers: [{ url: publicUrl }],
    paths: Object.fromEntries(paths),
    components: {
      schemas: { Error: errorSchema, ...Object.fromEntries(schemas) },
      securitySchemes: { [scheme]: { type: "http", scheme: "bearer", description: "From /oauth/token" } }
    }
  }
}

export const methods = ["get", "post", "put", "patch", "delete"] as const satisfies ReadonlyArray<
  OpenApi.OpenAPISpecMethodName
>
