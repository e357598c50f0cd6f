import { Elysia } from 'elysia'
import { Type } from 'typebox'
import type { Settings } from '../../config/settings.ts'
import type { WebhookSettings } from '../../config/webhook-settings.ts'
import { sendTestEvent } from '../../gateway/webhooks/send-event.ts'
import { describe } from '../../http/describe.ts'
import { deliveryStates, WebhookDeliveryObject, WebhookEndpointObject } from '../../http/objects/webhook.ts'
import { invalidCursor, listSchema, pageParameters, renderSlice, toPage } from '../../http/paging.ts'
import { defineQuery } from '../../http/query.ts'
import { renderDelivery, renderEndpoint } from '../../http/render-webhooks.ts'
import { jsonText } from '../../http/reply.ts'
import { count, objectType, stringEnum, text, textOrNull } from '../../http/schema.ts'
import { adminObjectNotFound } from '../../lib/errors/http-errors.ts'
import type { Managed } from '../../storage/ports/storage.ts'
import { parseDeliveryId } from '../../storage/ports/webhooks.ts'
import { adminErrors, type AdminGuard } from './admin-guard.ts'

const EndpointList = Type.Object(
  {
    object: objectType('list'),
    data: Type.Array(WebhookEndpointObject, { description: 'The endpoints.' }),
  },
  { title: 'WebhookEndpointList' },
)

const Test = Type.Object(
  {
    object: objectType('webhook_test'),
    status: Type.Union([Type.Integer(), Type.Null()], {
      description: 'The status with which the endpoint replied; null if it did not.',
    }),
    error: textOrNull('Why the event was not delivered; null if it was.'),
  },
  { title: 'WebhookTest' },
)

const Retry = Type.Object(
  {
    object: objectType('webhook_retry'),
    deliveries: count('The deliveries that are attempted once more.'),
  },
  { title: 'WebhookRetry' },
)

const deliveriesQuery = defineQuery({
  ...pageParameters('delivery', 'desc'),
  status: Type.Optional(stringEnum(deliveryStates, { description: 'Only deliveries in this state.' })),
  endpoint: Type.Optional(text('Only deliveries to the endpoint with this name.')),
})

const endpointPath = { endpoint: 'The name of an endpoint of the settings.' }

const listDetail = describe({
  tag: 'Admin',
  id: 'listWebhooks',
  summary: 'List webhook endpoints',
  description: 'Lists the endpoints of the settings, without their secrets.',
  reply: EndpointList,
  errors: adminErrors,
})
const testDetail = describe({
  tag: 'Admin',
  id: 'testWebhook',
  summary: 'Test a webhook endpoint',
  description:
    'Sends the event `webhook.test` to an endpoint at once, and returns its response. It is not stored and not retried.',
  path: endpointPath,
  reply: Test,
  errors: [404, ...adminErrors],
})
const retryDeadDetail = describe({
  tag: 'Admin',
  id: 'retryWebhook',
  summary: 'Retry the dead deliveries of an endpoint',
  description: 'Starts the dead deliveries of an endpoint again, with attempts for up to a day.',
  path: endpointPath,
  reply: Retry,
  errors: [404, ...adminErrors],
})
const deliveriesDetail = describe({
  tag: 'Admin',
  id: 'listWebhookDeliveries',
  summary: 'List webhook deliveries',
  description:
    'Lists the deliveries of events, the newest first by default. Delivered ones are kept for 3 days, the others for 30.',
  query: deliveriesQuery.parameters,
  reply: listSchema(WebhookDeliveryObject, 'WebhookDeliveryList'),
  errors: [400, ...adminErrors],
})
const retryDetail = describe({
  tag: 'Admin',
  id: 'retryWebhookDelivery',
  summary: 'Retry a webhook delivery',
  description: 'Delivers an event once more, with the same `webhook-id`, also one that was delivered.',
  path: { delivery: 'The ID of a delivery.' },
  reply: WebhookDeliveryObject,
  errors: [404, ...adminErrors],
})

export type WebhookRouteDependencies = {
  readonly configuration: { readonly settings: Pick<Settings, 'webhooks'> }
  readonly managed: Pick<Managed, 'webhooks' | 'by'>
}

/** The endpoints of the settings, and the deliveries to them. */
export function webhookAdminRoutes(guard: AdminGuard, { configuration, managed }: WebhookRouteDependencies) {
  const { webhooks: endpoints } = configuration.settings
  const { webhooks } = managed
  return new Elysia({ name: 'admin-webhooks' })
    .use(guard)
    .use(deliveryRoutes(guard, managed))
    .get(
      '/admin/webhooks',
      async () => {
        const counts = await webhooks.counts()
        return { object: 'list', data: endpoints.map((endpoint) => renderEndpoint(endpoint, counts)) }
      },
      { detail: listDetail },
    )
    .post(
      '/admin/webhooks/:endpoint/test',
      async ({ params }) => ({
        object: 'webhook_test',
        ...(await sendTestEvent(named(endpoints, params.endpoint))),
      }),
      { detail: testDetail },
    )
    .post(
      '/admin/webhooks/:endpoint/retry',
      async ({ params, actor }) => {
        const { name } = named(endpoints, params.endpoint)
        return { object: 'webhook_retry', deliveries: await managed.by(actor).webhooks.retryDead(name) }
      },
      { detail: retryDeadDetail },
    )
}

function deliveryRoutes(guard: AdminGuard, managed: WebhookRouteDependencies['managed']) {
  return new Elysia({ name: 'admin-webhook-deliveries' })
    .use(guard)
    .get('/admin/webhook_deliveries', ({ request }) => listPage(managed.webhooks, request), {
      detail: deliveriesDetail,
    })
    .post(
      '/admin/webhook_deliveries/:delivery/retry',
      async ({ params, actor }) => {
        const key = parseDeliveryId(params.delivery)
        const retried = key && (await managed.by(actor).webhooks.retry(key))
        if (retried) return renderDelivery(retried)
        throw adminObjectNotFound(`There is no webhook delivery '${params.delivery.slice(0, 100)}'.`)
      },
      { detail: retryDetail },
    )
}

function named(endpoints: readonly WebhookSettings[], name: string): WebhookSettings {
  const endpoint = endpoints.find((one) => one.name === name)
  if (endpoint) return endpoint
  throw adminObjectNotFound(`There is no webhook endpoint '${name.slice(0, 100)}'.`)
}

async function listPage(webhooks: Managed['webhooks'], request: Request): Promise<Response> {
  const { status, endpoint, ...query } = deliveriesQuery.read(request)
  const page = toPage(query, 'desc')
  if (page.after !== undefined && parseDeliveryId(page.after) === undefined)
    throw invalidCursor('a webhook delivery')
  const { items, hasMore } = await webhooks.list({ ...page, status, endpoint })
  return jsonText(renderSlice({ items: items.map(renderDelivery), hasMore }))
}
