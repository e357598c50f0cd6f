import { expect, test } from 'bun:test'
import { dirname, join } from 'node:path'
import { runWeir } from '../../cli/support/run-weir.ts'
import { createGatewayProcess } from '../../reliability/money/support/gateway-process.ts'
import { lockForServing } from '../../../src/storage/sqlite/connection/serving-lock.ts'
import { sqliteFile } from '../../support/database-connection.ts'
import { temporaryFolder } from './support/folder.ts'

test('a data folder has one server at a time, and another one as soon as that releases it', () => {
  const file = join(temporaryFolder(), 'weir.db')
  const elsewhere = lockForServing(join(temporaryFolder(), 'weir.db'))
  for (let round = 0; round < 3; round++) {
    const lock = lockForServing(file)
    expect(() => lockForServing(file)).toThrow('is in use by another weir server')
    lock.release()
  }
  elsewhere.release()
})

test('a second weir serve on the data folder ends with an error, and commands work; a killed one holds no lock', async () => {
  await using gateway = await createGatewayProcess('http://127.0.0.1:9/v1', {})
  await gateway.start()
  const data = dirname(sqliteFile(gateway.database))
  const environment = { WEIR_DATA: data }
  expect(await runWeir(['serve', '--port', '0'], data, environment)).toEqual({
    code: 1,
    out: '',
    err: `The data folder ${data} is in use by another weir server. Stop that server, or choose another folder with --data.\n`,
  })
  expect(await runWeir(['keys', 'list'], data, environment)).toMatchObject({ code: 0, err: '' })
  expect((await fetch(`${gateway.url()}/readyz`)).status).toBe(200)
  await gateway.kill()
  await gateway.start()
  expect((await fetch(`${gateway.url()}/readyz`)).status).toBe(200)
})
