-- q10: log to files, a folder for each minute.
CREATE TABLE q10 (
  auction BIGINT, bidder BIGINT, price BIGINT, `dateTime` TIMESTAMP(3), extra STRING, dt STRING, hm STRING
) PARTITIONED BY (dt, hm) WITH ('connector' = 'filesystem', 'path' = '/tmp/nexmark-q10', 'format' = 'csv');

INSERT INTO q10
SELECT auction, bidder, price, `dateTime`, extra, DATE_FORMAT(`dateTime`, 'yyyy-MM-dd'), DATE_FORMAT(`dateTime`, 'HH:mm')
FROM bid;
