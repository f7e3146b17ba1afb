"""Casement from Python: sales of two shops, summed by the minute.

Makes a stream and a view, sends three batches, and follows the results; stops
following in the middle and resumes from the cursor it kept. Start a server with
an empty data directory and run:

    examples/python/make_stubs build/python
    PYTHONPATH=build/python python3 examples/python/quickstart.py 127.0.0.1:7077

Run it again: every batch is then a repeat, so nothing is counted twice.
"""

import sys
from datetime import datetime, timezone

import grpc
from google.protobuf import duration_pb2, timestamp_pb2

from casement.v1 import (
    definition_pb2,
    definition_pb2_grpc,
    ingest_pb2,
    ingest_pb2_grpc,
    result_pb2,
    result_pb2_grpc,
    value_pb2,
    window_pb2,
)

STREAM = "streams/sales"
VIEW = "streams/sales/views/per-minute"

# Each batch is (time of day, shop, cents). The events of 09:00:50 come out of
# order but in time: the stream waits 30 s for such. What is sent after the
# watermark has passed the end of its window is late.
BATCHES = [
    [("09:00:05", "north", 350), ("09:00:20", "south", 420)],
    [("09:01:10", "north", 280), ("09:00:50", "north", 150)],
    [("09:02:40", "south", 500), ("09:00:59", "south", 999)],
]


def timestamp(time_of_day):
    hour, minute, second = map(int, time_of_day.split(":"))
    result = timestamp_pb2.Timestamp()
    result.FromDatetime(
        datetime(2026, 1, 5, hour, minute, second, tzinfo=timezone.utc)
    )
    return result


def make_definitions(definitions):
    """Creates the stream and the view; does nothing if they are there."""
    stream = definition_pb2.Stream(
        fields=[
            definition_pb2.FieldSpec(
                name="shop", type=value_pb2.FIELD_TYPE_STRING, required=True
            ),
            definition_pb2.FieldSpec(
                name="cents", type=value_pb2.FIELD_TYPE_INT64
            ),
        ],
        watermark_policy=definition_pb2.WatermarkPolicy(
            bounded_delay=definition_pb2.WatermarkPolicy.BoundedDelay(
                max_delay=duration_pb2.Duration(seconds=30)
            )
        ),
    )
    definitions.CreateStream(
        definition_pb2.CreateStreamRequest(stream_id="sales", stream=stream)
    )

    view = definition_pb2.View(
        spec=definition_pb2.ViewSpec(
            window=window_pb2.WindowSpec(
                tumbling=window_pb2.WindowSpec.Tumbling(
                    size=duration_pb2.Duration(seconds=60)
                )
            ),
            group_by=["shop"],
            aggregates=[
                window_pb2.AggregateSpec(
                    alias="sales",
                    function=window_pb2.AggregateSpec.FUNCTION_COUNT,
                ),
                window_pb2.AggregateSpec(
                    alias="cents",
                    function=window_pb2.AggregateSpec.FUNCTION_SUM,
                    field="cents",
                ),
            ],
            # A provisional result at the end of each batch that changed a
            # window, besides the final one.
            trigger=window_pb2.TriggerSpec(
                early=window_pb2.TriggerSpec.Early(every_batch=True)
            ),
        )
    )
    definitions.CreateView(
        definition_pb2.CreateViewRequest(
            parent=STREAM, view_id="per-minute", view=view
        )
    )


class Till:
    """A producer. Its name and its sequence numbers make resending safe."""

    def __init__(self, ingest):
        self._ingest = ingest
        self._opened = ingest.OpenProducer(
            ingest_pb2.OpenProducerRequest(stream=STREAM, producer_id="till")
        )

    def send(self, sequence, events):
        batch = ingest_pb2.Batch(
            sequence=sequence,
            rows=ingest_pb2.RowBatch(
                events=[
                    ingest_pb2.Event(
                        event_time=timestamp(time_of_day),
                        fields={
                            "shop": value_pb2.Value(string_value=shop),
                            "cents": value_pb2.Value(int64_value=cents),
                        },
                    )
                    for time_of_day, shop, cents in events
                ]
            ),
        )
        # When this returns, the batch is on the disk. If it fails or times
        # out, send the same batch under the same number again.
        ack = self._ingest.AppendBatch(
            ingest_pb2.AppendBatchRequest(
                producer=self._opened.name,
                epoch=self._opened.epoch,
                batch=batch,
            ),
            timeout=30,
        ).ack
        print(
            f"batch {sequence}: {ack.accepted_events} accepted,"
            f" {ack.late_events} late"
            + (" (a repeat: nothing is counted again)" if ack.duplicate else "")
        )
        return ack.version


def show(result):
    start, end = (
        time.ToDatetime().strftime("%H:%M")
        for time in (result.window.start_time, result.window.end_time)
    )
    shop = result.key.parts[0].string_value
    sales, cents = (value.int64_value for value in result.values)
    finality = result_pb2.Finality.Name(result.finality)
    finality = finality.removeprefix("FINALITY_").lower()
    print(f"  {start}-{end} {shop} sales={sales} cents={cents} {finality}")


def follow(results, cursor, version):
    """Shows what comes after `cursor` up to `version`; returns a new cursor."""
    request = result_pb2.SubscribeRequest(view=VIEW)
    if cursor:
        request.cursor = cursor
    else:
        request.position = value_pb2.POSITION_OLDEST
    responses = results.Subscribe(request, timeout=60)
    for response in responses:
        for result in response.results.results:
            show(result)
        # Keep the cursor with what was made of the results, in one
        # transaction if there is a database: then each result takes effect
        # exactly once.
        cursor = response.cursor
        if response.served_version >= version:
            break
    responses.cancel()
    return cursor


def list_windows(results, version):
    """Every final window, as of `version` or later."""
    request = result_pb2.ListWindowsRequest(parent=VIEW, min_version=version)
    while True:
        page = results.ListWindows(request, timeout=30)
        for result in page.windows:
            show(result)
        if not page.next_page_token:
            return
        request.page_token = page.next_page_token


def main():
    address = sys.argv[1] if len(sys.argv) > 1 else "127.0.0.1:7077"
    with grpc.insecure_channel(address) as channel:
        definitions = definition_pb2_grpc.DefinitionServiceStub(channel)
        results = result_pb2_grpc.ResultServiceStub(channel)
        make_definitions(definitions)
        till = Till(ingest_pb2_grpc.IngestServiceStub(channel))

        version = till.send(1, BATCHES[0])
        print("results so far:")
        cursor = follow(results, None, version)

        till.send(2, BATCHES[1])
        version = till.send(3, BATCHES[2])
        print("results since then, resumed from the cursor:")
        follow(results, cursor, version)

        # The last window is open until the watermark passes its end. No more
        # events will come, ever: end the stream.
        ended = definitions.EndStream(
            definition_pb2.EndStreamRequest(name=STREAM), timeout=30
        )
        print("final windows:")
        list_windows(results, ended.progress.version)


if __name__ == "__main__":
    try:
        main()
    except grpc.RpcError as error:
        sys.exit(f"{error.code().name}: {error.details()}")
