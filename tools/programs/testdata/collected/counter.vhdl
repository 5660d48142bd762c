entity counter is
end counter;

architecture behaviour of counter is
    signal count : integer := 0;
begin
    step : process
    begin
        count <= count + 1;
        wait;
    end process;
end behaviour;
