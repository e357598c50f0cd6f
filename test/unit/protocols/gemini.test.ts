import { gemini } from '../../../src/providers/protocols/gemini/wire.ts'
import { holdWireContract } from './support/contract.ts'

holdWireContract('gemini', gemini({ name: 'gemini', callIds: true, serviceTier: true }))
