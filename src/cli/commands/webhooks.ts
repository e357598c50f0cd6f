import { loadSettings } from '../../config/load.ts'
import type { WebhookSettings } from '../../config/webhook-settings.ts'
import { originOf } from '../../gateway/webhooks/endpoints.ts'
import { sendTestEvent } from '../../gateway/webhooks/send-event.ts'
import { renderDelivery, renderEndpoint } from '../../http/render-webhooks.ts'
import { looksSecret, shortText } from '../../lib/text.ts'
import {
  type DeliveryRecord,
  type DeliveryStatus,
  parseDeliveryId,
  printDeliveryId,
} from '../../storage/ports/webhooks.ts'
import { readChoice } from '../accounts/limit-flags.ts'
import { timeCell } from '../accounts/limits-output.ts'
import { type Command, commonFlagsHelp, runSubcommand, subcommand } from '../command.ts'
import type { CliContext } from '../context.ts'
import { CommandError, UsageError } from '../errors.ts'
import { readLimit } from '../list-flags.ts'
import { type Column, listText } from '../output.ts'
import { type DatabaseFlags, storageCommand } from '../storage.ts'

const usage = `Usage
  weir webhooks list             list the endpoints of the settings
  weir webhooks test NAME        send the event webhook.test to an endpoint, and print its response
  weir webhooks deliveries [--endpoint NAME] [--status dead] [--limit N]
                                 list deliveries of events, the newest first
  weir webhooks retry ID         deliver an event once more, also one that was delivered
  weir webhooks retry --dead [--endpoint NAME]
                                 retry the newest dead deliveries, at most 1,000

Shows the events that were sent to the endpoints of “webhooks” in weir.yaml, such as
budget.threshold and provider.down. An event that an endpoint does not accept is sent again for a
day, with growing delays; then its delivery is dead. A running server sends within a second what is
retried.

Arguments
  NAME                           the name of an endpoint
  ID                             the ID of a delivery

Flags
  --endpoint NAME                only deliveries to this endpoint
  --status STATUS                only deliveries that are pending, delivered or dead
  --limit N                      the most deliveries that are listed, up to 1000; default: 50
  --dead                         all dead deliveries

Examples
  weir webhooks test alerts
  weir webhooks deliveries --status dead
  weir webhooks retry --dead --endpoint alerts

${commonFlagsHelp}`

/** `weir webhooks`. */
export const command: Command = {
  usage,
  run: (args, context) => runSubcommand('webhooks', { list, test, deliveries, retry }, args, context),
}

function endpointsOf(flags: DatabaseFlags, context: CliContext): readonly WebhookSettings[] {
  return loadSettings({ flags, ...context }).settings.webhooks
}

const list = storageCommand('webhooks list', {}, async ({ flags, context, open, print }) => {
  const endpoints = endpointsOf(flags, context)
  const counts = await open('read', ({ webhooks }) => webhooks.counts())
  const rendered = endpoints.map((endpoint) => renderEndpoint(endpoint, counts))
  const none = 'There are no endpoints. To add one, see “webhooks” in the documentation of the settings.'
  print(rendered, listText(rendered, endpointColumns, none, context))
})

const endpointColumns: readonly Column<ReturnType<typeof renderEndpoint>>[] = [
  { title: 'NAME', value: ({ id }) => id },
  { title: 'URL', value: ({ origin }) => `${origin}/…` },
  { title: 'ORGANIZATION', value: ({ organization }) => organization ?? 'all' },
  { title: 'PENDING', value: ({ pending }) => String(pending), align: 'right' },
  { title: 'DEAD', value: ({ dead }) => String(dead), align: 'right' },
]

const test = subcommand(
  'webhooks test',
  { operands: ['NAME'] },
  async ({ flags, operands, context, print }) => {
    const [name] = operands
    const endpoints = endpointsOf(flags, context)
    const endpoint = endpoints.find((one) => one.name === name)
    if (endpoint === undefined) throw noEndpoint(name, endpoints)
    const { status, error } = await sendTestEvent(endpoint)
    if (error !== null) throw new CommandError(error)
    const accepted = `${originOf(endpoint)} has accepted the event with status ${status}.`
    print({ object: 'webhook_test', status, error }, accepted)
  },
)

function noEndpoint(name: string, endpoints: readonly WebhookSettings[]): Error {
  const known = endpoints.map((endpoint) => endpoint.name).join(', ')
  const shown = looksSecret(name) ? 'this name' : `the name ${shortText(name, 64)}`
  return new CommandError(
    `There is no endpoint with ${shown} in the settings. ${known === '' ? 'They have none.' : `Available: ${known}.`}`,
  )
}

const statuses: readonly DeliveryStatus[] = ['pending', 'delivered', 'dead']

const deliveryFlags = { endpoint: 'text', status: 'text', limit: 'text' } as const

const deliveries = storageCommand('webhooks deliveries', { flags: deliveryFlags }, async (call) => {
  const { flags } = call
  const status = readChoice(flags.status, 'webhooks', 'status', statuses, 'pending, delivered or dead')
  const limit = readLimit('webhooks', flags.limit)
  const query = { endpoint: flags.endpoint, status, limit, order: 'desc' } as const
  const { items } = await call.open('read', ({ webhooks }) => webhooks.list(query))
  const text = listText(items, deliveryColumns, 'There are no such deliveries.', call.context)
  call.print(items.map(renderDelivery), text)
})

const deliveryColumns: readonly Column<DeliveryRecord>[] = [
  { title: 'ID', value: printDeliveryId },
  { title: 'TYPE', value: ({ type }) => type },
  { title: 'CREATED', value: ({ createdAt }) => timeCell(createdAt), dropOrder: 1 },
  { title: 'STATUS', value: ({ status }) => status },
  { title: 'ATTEMPTS', value: ({ attempts }) => String(attempts), align: 'right', dropOrder: 2 },
  { title: 'ERROR', value: ({ error }) => error ?? '', dropOrder: 3 },
]

const retryFlags = { dead: 'switch', endpoint: 'text' } as const

const retry = storageCommand('webhooks retry', { flags: retryFlags, operands: ['ID?'] }, async (call) => {
  const { flags, open, print } = call
  const [id] = call.operands
  if ((id === undefined) !== (flags.dead === true) || (flags.endpoint !== undefined && !flags.dead))
    throw new UsageError('weir webhooks retry needs the ID of a delivery, or --dead. For help, add --help.')
  if (id === undefined) {
    const retried = await open('write', ({ webhooks }) => webhooks.retryDead(flags.endpoint))
    const count = retried === 1 ? '1 delivery is' : `${retried} deliveries are`
    return print({ object: 'webhook_retry', deliveries: retried }, `${count} due once more.`)
  }
  const key = parseDeliveryId(id)
  const retried = key && (await open('write', ({ webhooks }) => webhooks.retry(key)))
  if (retried === undefined)
    throw new CommandError('There is no delivery with this ID. To list them, run: weir webhooks deliveries')
  print(renderDelivery(retried), `The delivery ${id} is due once more.`)
})
