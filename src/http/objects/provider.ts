import { Type } from 'typebox'
import { count, objectType, stringEnum, text, textOrNull } from '../schema.ts'

const flag = (description: string) => Type.Boolean({ description })

const RouteObject = Type.Object({
  model: text('The slug of the model.'),
  enabled: flag('Whether the model is enabled.'),
  upstream_model: text('The name of the model at the provider.'),
  circuit: stringEnum(['closed', 'partly_open', 'open'], {
    description: 'Whether requests avoid the route: those of no organization, of some, or of all.',
  }),
  requests: count('The requests to the route since the start of the gateway.'),
  failures: count('Those that failed.'),
  last_success_at: textOrNull('When the last request succeeded, in ISO 8601.'),
  last_error: Type.Union(
    [
      Type.Object({
        at: text('When it failed, in ISO 8601.'),
        status: Type.Integer({ description: 'The status.' }),
        code: text('The error code.'),
        message: text('Why requests fail with this code.'),
        remedy: text('The remedy for the operator.'),
        request: text('The ID of the request.'),
      }),
      Type.Null(),
    ],
    { description: 'The last request that failed.' },
  ),
})

const Problem = Type.Object({
  source: stringEnum(['request', 'check'], {
    description: 'What failed: a request, or a check, which requests the list of models.',
  }),
  at: text('When it failed, in ISO 8601.'),
  message: text('What is wrong.'),
  remedy: text('The remedy for the operator.'),
  request: textOrNull('The ID of the request; null for a check.'),
})

const Slots = Type.Object({
  concurrency: Type.Integer({ description: 'Requests that may be in progress at once.' }),
  in_use: Type.Integer({ description: 'Requests in progress.' }),
  waiting: Type.Integer({ description: 'Requests that wait for a slot.' }),
})

/** A provider, its state and its routes. */
export const ProviderObject = Type.Object(
  {
    object: objectType('provider'),
    id: text('The name of the provider in the settings.'),
    kind: text('The kind of the provider.'),
    base_url: textOrNull('The base URL; null for the built-in provider.'),
    has_key: flag('Whether it has a key or credentials, which are never shown.'),
    discovers_models: flag('Whether the gateway lists its models, at the start and every minute.'),
    testable: flag('Whether it has a list of models, by which it can be tested without a cost.'),
    health: stringEnum(['ok', 'failing', 'unknown'], {
      description:
        'Failing if the last check or the last request failed and neither has succeeded since. Unknown before the first of both.',
    }),
    slots: Type.Union([Slots, Type.Null()], {
      description: 'Its slots in this process; null if any number of requests may be in progress.',
    }),
    problem: Type.Union([Problem, Type.Null()], { description: 'Why it is failing; null if it is not.' }),
    last_check_at: textOrNull(
      'When its list of models was requested last, in ISO 8601; null if it never was.',
    ),
    discovered_models: Type.Array(Type.String(), { description: 'The models that only its list has.' }),
    routes: Type.Array(RouteObject, { description: 'The routes of models to the provider.' }),
  },
  { title: 'Provider' },
)
