import { expect, test } from 'bun:test'
import { readError } from '../../support/chat-reply.ts'
import { chatRequest, startScenario } from '../../support/scenario.ts'
import { json, type Script } from '../../support/script.ts'

const notFound = (body: object | string, headers = {}) => json(body, { status: 404, headers })
const withMessage = (message: string, rest = {}) => notFound({ error: { message, ...rest } })
const html = { 'content-type': 'text/html' }

test.each<readonly [string, Script, boolean]>([
  ['of a model', withMessage('The model `river-1` does not exist or you do not have access to it.'), true],
  ['with a code about a model', withMessage('No.', { code: 'model_not_found' }), true],
  ['with a type and a model', withMessage('model: river-1', { type: 'not_found_error' }), true],
  ['of a deployment', withMessage('No.', { code: 'DeploymentNotFound' }), true],
  ['of a URL', withMessage('Invalid URL (POST /chat/completions)'), false],
  ['of FastAPI', notFound({ detail: 'Not Found' }), false],
  ['in HTML', notFound('<html><code>/models/river-1</code> was not found.', html), false],
  ['without a body', notFound(''), false],
])('a 404 %s says whether only the model can be missing', async (_, script, isModel) => {
  await using scenario = await startScenario(script)
  const { message, status, code } = await readError(await scenario.app.chat(chatRequest))
  expect([status, code]).toEqual([502, 'upstream_model_not_found'])
  expect(message).toBe(
    `The provider acme does not have this model${isModel ? '' : ', or not this endpoint'}.`,
  )
})
